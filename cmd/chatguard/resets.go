package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/chatguard/chatguard/internal/limits"
)

func newResetsCommand() *cobra.Command {
	var timezone, resetAt, period, firstDay string
	var from date
	count := days(7)
	cmd := &cobra.Command{
		Use:   "resets --timezone ZONE [--reset-at HH:MM] [--period P [--first-day D]] --from DATE [--days N]",
		Short: "Show when a zone's days, weeks or months begin, including at clock changes",
		Long: `Prints when daily windows begin in a time zone. The output has one line for each beginning in the given local dates, in
RFC 3339 with the offset.

A date's window begins when the local time first reaches --reset-at. If the clocks skip that time, the window begins at
the clock change. If the clocks show that time twice, the window begins at the first of the two.

If the clocks skip from before --reset-at to after midnight, the window begins on the next date. A date can therefore
have no beginning, or two.

With --period week or month, only the windows of weeks or months are printed.`,
		Example: `  chatguard resets --timezone Europe/Berlin --reset-at 02:30 --from 2026-03-28 --days 3
  chatguard resets --timezone Pacific/Apia --from 2011-12-29
  chatguard resets --timezone Asia/Beirut --period week --first-day sunday --from 2026-03-01 --days 31`,
		Args:                  noArguments,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if timezone == "" {
				return usageError{errors.New("chatguard resets needs --timezone, an IANA name such as Europe/Berlin")}
			}
			if _, err := limits.NewCalendar(timezone, ""); err != nil {
				return usageError{fmt.Errorf("--timezone: %w", err)}
			}
			calendar, err := limits.NewCalendar(timezone, resetAt)
			if err != nil {
				return usageError{fmt.Errorf("--reset-at: %w", err)}
			}
			if calendar, err = calendar.Divide(period, firstDay); err != nil {
				return usageError{fmt.Errorf("--period and --first-day: %w", err)}
			}
			end, err := from.plusDays(count)
			if err != nil {
				return usageError{err}
			}
			return printResets(cmd.OutOrStdout(), calendar, time.Time(from), end)
		},
	}
	cmd.Flags().StringVar(&timezone, "timezone", "", "the time `zone` of the days (IANA name)")
	cmd.Flags().StringVar(&resetAt, "reset-at", "00:00", "local `time` at which a window begins, HH:MM")
	cmd.Flags().StringVar(&period, "period", "day", "what a window is: day, week or month")
	cmd.Flags().StringVar(&firstDay, "first-day", "", "the first `day` of a week (default monday)")
	cmd.Flags().Var(&from, "from", "the first local date, such as 2026-03-28")
	cmd.Flags().Var(&count, "days", "how many local dates")
	return cmd
}

// printResets prints each time at which a window starts, for the local dates from first up to but
// not including end.
func printResets(w io.Writer, calendar *limits.Calendar, first, end time.Time) error {
	out := bufio.NewWriter(w)
	from, to := first.Format(time.DateOnly), end.Format(time.DateOnly)
	dayBefore := first.AddDate(0, 0, -1).Unix() // in UTC; no zone is more than a day ahead
	for start := calendar.FirstBoundary(dayBefore); ; start = calendar.PeriodOf(start).End {
		local := calendar.Local(start)
		switch on := local.Format(time.DateOnly); {
		case on < from:
			continue
		case on >= to:
			return out.Flush()
		}
		if _, err := fmt.Fprintln(out, rfc3339(local)); err != nil {
			return err
		}
	}
}

// rfc3339 formats a time exactly, with an offset of whole minutes. Some zones of the 1970s have
// seconds in their offset, which RFC 3339 does not allow.
func rfc3339(t time.Time) string {
	_, offset := t.Zone()
	if seconds := offset % 60; seconds != 0 {
		t = t.In(time.FixedZone("", offset-seconds))
	}
	return t.Format(time.RFC3339)
}

// date is a flag for a local date, such as 2026-03-28. It is midnight in UTC.
type date time.Time

// The range of dates that limits support.
var (
	firstDate = time.Date(1970, time.January, 1, 0, 0, 0, 0, time.UTC)
	lastDate  = time.Date(2115, time.December, 31, 0, 0, 0, 0, time.UTC)
)

func (d *date) String() string {
	if time.Time(*d).IsZero() {
		return ""
	}
	return time.Time(*d).Format(time.DateOnly)
}

// Set parses the flag.
func (d *date) Set(text string) error {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Before(firstDate) || t.After(lastDate) {
		return fmt.Errorf("want a date from %s to %s", firstDate.Format(time.DateOnly), lastDate.Format(time.DateOnly))
	}
	*d = date(t)
	return nil
}

// Type returns the flag's type for the help.
func (*date) Type() string { return "date" }

// plusDays returns the date n days later. It returns an error if no flag set the date, or if the
// result is after the last date.
func (d *date) plusDays(n days) (time.Time, error) {
	from := time.Time(*d)
	if from.IsZero() {
		return from, errors.New("chatguard resets needs --from, a date such as 2026-03-28")
	}
	most := days(lastDate.Sub(from)/(24*time.Hour)) + 1
	if n > most {
		return from, fmt.Errorf("--days: %d days from %s end after %s: want at most %d", n, d, lastDate.Format(time.DateOnly), most)
	}
	return from.AddDate(0, 0, int(n)), nil
}

// days is a flag for a number of days.
type days int

func (n *days) String() string { return strconv.Itoa(int(*n)) }

// Set parses the flag.
func (n *days) Set(text string) error {
	given, err := strconv.Atoi(text)
	if err != nil || given < 1 {
		return errors.New("want a whole number of days, 1 or more")
	}
	*n = days(given)
	return nil
}

// Type returns the flag's type for the help.
func (*days) Type() string { return "number" }
