/** Times in documents: in the time zone of the installation, whatever that of the browser is. */

import { locale } from '../app/i18n.ts'

export interface DocumentTimes {
  readonly zone: string
  /** Formats a timestamp as a date. */
  date(at: string): string
  /** Formats a timestamp as a time without seconds. */
  clock(at: string): string
  /** Formats a timestamp as a time with seconds; with the day if it is another one than that of `near`. */
  time(at: string, near: string): string
}

export function documentTimes(zone: string): DocumentTimes {
  const format = (options: Intl.DateTimeFormatOptions) => {
    const formatter = new Intl.DateTimeFormat(locale, { timeZone: zone, ...options })
    return (at: string) => formatter.format(new Date(at))
  }
  const [date, clock] = [format({ dateStyle: 'full' }), format({ timeStyle: 'short' })]
  const [time, dayTime] = [
    format({ timeStyle: 'medium' }),
    format({ month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit' }),
  ]
  return { zone, date, clock, time: (at, near) => (date(at) === date(near) ? time(at) : dayTime(at)) }
}
