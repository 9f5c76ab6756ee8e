package redisstore

import (
	"crypto/sha1"
	"encoding/hex"
)

// swapScript replaces all rows if all are as expected. For each key of a row there are three
// arguments: the row before, the row after, and when it expires in Unix milliseconds. An empty row
// means no row, and an empty time means never. It returns nil if it is done, and otherwise the rows
// that are stored. A row that is equal before and after is only compared. After the rows there may
// be sets, with an argument each: what is added to the set.
//
// It doesn't use TIME, which some hosted servers refuse in scripts.
const swapScript = `local rows = (#ARGV - #KEYS) / 2
for i = 1, rows do
  local now = redis.call('GET', KEYS[i]) or ''
  if now ~= ARGV[3*i-2] then
    local all = {}
    for k = 1, rows do all[k] = redis.call('GET', KEYS[k]) or '' end
    return all
  end
end
for i = rows + 1, #KEYS do redis.call('SADD', KEYS[i], ARGV[2*rows+i]) end
for i = 1, rows do
  local key, is, at = KEYS[i], ARGV[3*i-1], ARGV[3*i]
  if is ~= ARGV[3*i-2] then
    if is == '' then redis.call('DEL', key)
    elseif at == '' then redis.call('SET', key, is)
    else redis.call('SET', key, is, 'PXAT', at) end
  end
end
return nil`

// swapSHA names the script for EVALSHA.
var swapSHA = func() string {
	sum := sha1.Sum([]byte(swapScript))
	return hex.EncodeToString(sum[:])
}()

// replaceOtherType replaces a key that isn't a string with text. A node may have replaced it
// meanwhile.
const replaceOtherType = `local now = redis.pcall('GET', KEYS[1])
if type(now) == 'table' and string.find(now.err, 'WRONGTYPE', 1, true) then
  redis.call('SET', KEYS[1], KEYS[1] .. ' had another type')
end
return nil`
