package persist

// noFollow has no like on Windows, where making a link takes rights of its own.
const noFollow = 0
