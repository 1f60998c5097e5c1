/**
 * Short English sentences that fit on a watch. The texts contain no line breaks, control characters or changes of
 * direction, but each service must still escape its own markup.
 */

import { alertKindTable, isAlertKind } from '../../contract/alert-kinds.ts'
import type { AlertBody } from '../../contract/alerts.ts'
import { type NotificationType, type Severity, severities } from '../../contract/values.ts'
import { happenedAt } from '../alerts/alert.ts'
import { hasOtherPack } from '../alerts/describe-alert.ts'
import { pageNames, pathOf, urlOf } from '../pages.ts'
import type { NotificationMessage } from './message.ts'
import { toPlainText, utf8Length } from './plain-text.ts'

export interface NotificationLine {
  /** At most 250 characters. */
  readonly text: string
  /** See `NotifiedAlert`. Null without a link. */
  readonly acknowledgeUrl: string | null
}

export interface NotificationText {
  /** One line of at most 150 characters. */
  readonly title: string
  /** For each alert, from the most severe. */
  readonly lines: readonly NotificationLine[]
  readonly more: number
  /** The highest severity; `info` for the end of alerts and for a test. */
  readonly severity: Severity
  /** Null if the service has no public address. */
  readonly url: string | null
}

export const acknowledgeLabel = 'Acknowledge'
const maxNameLength = 60
const maxErrorLength = 100
const maxTitleLength = 150
const maxLineLength = 250

/** `publicUrl`: `server.public_url`. */
export function toNotificationText(message: NotificationMessage, publicUrl: string | null): NotificationText {
  const alerts = message.alerts.toSorted((a, b) => severities.indexOf(b.severity) - severities.indexOf(a.severity))
  const [first] = alerts
  const url = publicUrl === null ? null : urlOf(publicUrl, pageOf(alerts))
  if (first === undefined) return { ...withoutAlerts(message), more: message.more, severity: 'info', url }
  const others = alerts.length - 1 + message.more
  const title = formatAlert(first, () => `${prefixes[message.type]}${describe(first, message.type)}`)
  return {
    title: others === 0 ? toPlainText(title, maxTitleLength) : withOthers(title, others),
    lines: alerts.map((alert) => {
      const line = formatAlert(alert, () => toLine(alert, message))
      return { text: toPlainText(line, maxLineLength), acknowledgeUrl: alert.acknowledge_url ?? null }
    }),
    more: message.more,
    severity: message.type === 'alert.cleared' ? 'info' : first.severity,
    url,
  }
}

export function toNotificationBody(text: NotificationText, maxBytes: number): string {
  const listed = listLines(text, maxBytes)
  const body = toBody(listed, text.url)
  return utf8Length(body) <= maxBytes ? body : toBody(listed, null)
}

/** The lines of a message. One that is too long leaves out the links, then the last alerts, which it counts. */
export function listLines({ lines, more, url }: NotificationText, maxBytes: number): readonly NotificationLine[] {
  const fits = (listed: readonly NotificationLine[]) => utf8Length(toBody(listed, url)) <= maxBytes
  const linked = withMore(lines, more)
  if (fits(linked)) return linked
  const plain = lines.map(({ text }) => toTextLine(text))
  for (let count = lines.length; count > 0; count--) {
    const listed = withMore(plain.slice(0, count), more + lines.length - count)
    if (fits(listed)) return listed
  }
  return [toTextLine(toPlainText(lines[0]?.text ?? '', Math.floor(maxBytes / 4)))]
}

function withMore(lines: readonly NotificationLine[], more: number): readonly NotificationLine[] {
  return more === 0 ? lines : [...lines, toTextLine(`And ${more} more.`)]
}

function toTextLine(text: string): NotificationLine {
  return { text, acknowledgeUrl: null }
}

function toBody(lines: readonly NotificationLine[], url: string | null): string {
  const texts = lines.flatMap(({ text, acknowledgeUrl }) =>
    acknowledgeUrl === null ? text : [text, `${acknowledgeLabel}: ${acknowledgeUrl}`],
  )
  return [...texts, ...(url === null ? [] : [url])].join('\n')
}

/** The link of a message about one alert, and the text without it, for services that show links as buttons. */
export function withoutLink(text: NotificationText): NotificationText & { readonly acknowledgeUrl: string | null } {
  const [line] = text.lines
  if (line === undefined || text.lines.length > 1) return { ...text, acknowledgeUrl: null }
  return { ...text, lines: [{ ...line, acknowledgeUrl: null }], acknowledgeUrl: line.acknowledgeUrl }
}

function withoutAlerts({ type, more }: NotificationMessage): Pick<NotificationText, 'title' | 'lines'> {
  if (type !== 'test')
    return {
      title: `${more} alerts`,
      lines: [toTextLine(`The alerts cannot be listed. See the page ${pageNames.alerts}.`)],
    }
  return {
    title: 'Test message from Micwatch',
    lines: [toTextLine('This notification channel works. Alerts will look like this.')],
  }
}

function formatAlert({ message }: AlertBody, format: () => string): string {
  try {
    return format()
  } catch {
    return String(message)
  }
}

const prefixes: Readonly<Record<NotificationType, string>> = {
  'alert.raised': '',
  'alert.repeated': 'Still open: ',
  'alert.escalated': 'Not acknowledged: ',
  'alert.cleared': 'Cleared: ',
  test: '',
}

function withOthers(title: string, others: number): string {
  const end = ` and ${others} more`
  return `${toPlainText(title, maxTitleLength - end.length)}${end}`
}

/** Without a duration if it was sent at once. */
function toLine(alert: AlertBody, { type, created_at }: NotificationMessage): string {
  const { title, name, pack, receiver } = alert.data
  const named = toPlainText(title ?? name ?? '', maxNameLength)
  const source = toPlainText(receiver ?? '', maxNameLength)
  const parts = [
    hasOtherPack(alert.data) ? `pack ${toPlainText(pack ?? '', maxNameLength)}` : '',
    named.startsWith(source) ? '' : source,
  ].filter((part) => part !== '')
  const where = parts.length === 0 ? '' : ` (${parts.join(', ')})`
  const until = alert.cleared_at === null ? created_at : Date.parse(alert.cleared_at)
  const minutes = Math.floor((until - Date.parse(happenedAt(alert))) / 60_000)
  const duration = minutes < 1 ? '' : `, ${type === 'alert.cleared' ? 'after' : 'for'} ${toDuration(minutes)}`
  return `${prefixes[type]}${describe(alert, type)}${where}${duration}`
}

function toDuration(minutes: number): string {
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
}

/** Describes an alert, such as "Battery critical: 7 Nora, 9%". Values are omitted when the alert has ended. */
function describe(alert: AlertBody, type: NotificationType): string {
  const { kind, message, data } = alert
  // A newer version may have stored other kinds.
  if (!isAlertKind(kind)) return message || kind
  const row = alertKindTable[kind]
  const detail = type === 'alert.cleared' ? '' : (row.detail?.(data) ?? toPlainText(data.error ?? '', maxErrorLength))
  const name = row.subject === 'service' ? '' : nameOf(alert)
  const subject = [name, detail].filter((part) => part !== '').join(', ')
  return subject === '' ? row.title : `${row.title}: ${subject}`
}

function nameOf({ manufacturer, data }: AlertBody): string {
  const { slot, title, address } = data
  if (slot !== null && title === null) return String(slot)
  const name = toPlainText(title ?? data.name ?? data.receiver ?? manufacturer ?? 'Unknown', maxNameLength)
  if (address !== undefined) return `${name} at ${toPlainText(address, maxErrorLength)}`
  return slot === null ? name : `${slot} ${name}`
}

function pageOf(alerts: readonly AlertBody[]): string {
  const [alert] = alerts
  if (alert === undefined) return pathOf('monitor')
  if (alerts.length > 1) return pathOf('alerts')
  if (alert.channel_id !== null) return pathOf('channel').replace(':id', String(alert.channel_id))
  if (alert.receiver_id !== null) return pathOf('receiver').replace(':id', String(alert.receiver_id))
  return pathOf('alerts')
}
