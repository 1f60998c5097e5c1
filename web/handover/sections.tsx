/** The lists of a handover. On a screen, the first items of each; on paper, all. */

import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { HandoverBody } from '../../src/contract/handovers.ts'
import { formatPercent, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { slotTitle } from '../app/slot-records.ts'
import { narrow, useMedia } from '../app/use-media.ts'
import { alertKindTitle, alertLine, shortPersonName } from '../parts/alerts/alert-text.ts'
import { timeLeftText } from '../parts/card/time-left.tsx'
import type { DocumentTimes } from '../reports/document.tsx'
import { titleOf, toChangeLines, toEventLines } from './change-text.ts'

interface SectionsProps {
  readonly handover: HandoverBody
  readonly times: DocumentTimes
}

interface Item {
  readonly key: string | number
  readonly text: string
  /** Who and when. */
  readonly detail?: string | null
  readonly isCritical?: boolean
  readonly channelId?: number | null
}

type SectionName = Exclude<keyof HandoverBody, 'since' | 'until' | 'truncated' | 'notes'>

export function Sections({ handover, times }: SectionsProps) {
  const { open_alerts, failed_checks, will_not_last, changes, events, markers, acknowledged, silences } = handover
  const time = (at: string) => times.moment(at, handover.until)
  const lists: readonly (readonly [SectionName, readonly Item[]])[] = [
    [
      'open_alerts',
      open_alerts.map((alert) => ({
        ...{ key: alert.id, text: alertLine(alert), channelId: alert.channel_id },
        ...{ detail: time(alert.raised_at), isCritical: alert.severity === 'critical' },
      })),
    ],
    [
      'failed_checks',
      failed_checks.map(({ channel_id, show_id, slot, title, note, by, at }) => ({
        ...{ key: `${show_id} ${channel_id}`, channelId: channel_id },
        text: join(': ', titleOf({ slot, title }), note),
        detail: byAt(by, time(at)),
      })),
    ],
    [
      'will_not_last',
      will_not_last.map(({ channel_id, slot, title, battery, minutes_left, forecast }) => ({
        ...{ key: channel_id, channelId: channel_id, text: slotTitle({ slot, title: plainText(title) }) },
        detail: join(
          ' · ',
          battery === null ? null : formatPercent(battery),
          timeLeftText({ minutesLeft: minutes_left, forecast }),
        ),
      })),
    ],
    ['changes', toChangeLines(changes).map(({ key, at, by, text }) => ({ key, text, detail: byAt(by, time(at)) }))],
    [
      'events',
      toEventLines(events).map(({ key, text, count, first, last }) => ({
        key,
        text: count === 1 ? text : t('handover.times', { text, count }),
        detail: count === 1 ? time(last) : `${time(first)} – ${time(last)}`,
      })),
    ],
    [
      'markers',
      markers.map(({ id, text, by, time: at }) => ({ key: id, text: plainText(text), detail: byAt(by, time(at)) })),
    ],
    [
      'acknowledged',
      acknowledged.map((alert) => ({
        ...{ key: alert.id, text: join(': ', alertLine(alert), alert.note), channelId: alert.channel_id },
        detail: byAt(
          alert.acknowledged_by ?? alert.snoozed_by,
          time(alert.acknowledged_at ?? alert.snoozed_at ?? alert.raised_at),
        ),
      })),
    ],
    [
      'silences',
      silences.map(({ id, kinds, reason, by, until }) => ({
        key: id,
        text: join(': ', kinds.map((kind) => alertKindTitle(kind)).join(', '), reason) || t('handover.silence'),
        detail: t('handover.until', { by: shortPersonName(by), time: time(until) }),
      })),
    ],
  ]
  return (
    <div className="handover-sections">
      {lists.map(([name, items]) =>
        items.length === 0 ? null : (
          <Section
            key={name}
            title={t(`handover.sections.${name}`)}
            items={items}
            isTruncated={handover.truncated.includes(name)}
          />
        ),
      )}
    </div>
  )
}

export function isEmptyHandover({ since: _, until: __, truncated: ___, notes, ...lists }: HandoverBody): boolean {
  return [notes, ...Object.values(lists)].every((list) => !Array.isArray(list) || list.length === 0)
}

function byAt(by: string | null, time: string): string {
  return by === null ? time : t('parts.byAt', { by: shortPersonName(by), time })
}

function join(separator: string, ...parts: readonly (string | null | undefined)[]): string {
  return parts.flatMap((part) => (part ? plainText(part) : [])).join(separator)
}

interface SectionProps {
  readonly title: string
  readonly items: readonly Item[]
  readonly isTruncated: boolean
}

function Section({ title, items, isTruncated }: SectionProps) {
  const [isOpen, setOpen] = useState(false)
  // A phone shows the whole handover at once.
  const shownItems = useMedia(narrow) ? 3 : 10
  const hidden = items.length - shownItems
  return (
    <section className="handover-section">
      <h2>
        {title} <span className="handover-count">{isTruncated ? `${items.length}+` : items.length}</span>
      </h2>
      <ul>
        {items.map(({ key, ...item }, index) => (
          <li key={key} data-folded={!isOpen && index >= shownItems}>
            <ItemText {...item} />
          </li>
        ))}
      </ul>
      {hidden <= 0 || isOpen ? null : (
        <button type="button" className="handover-more screen-only" onClick={() => setOpen(true)}>
          {t('handover.more', { count: hidden })}
        </button>
      )}
      {isTruncated ? <p className="hint">{t('handover.truncated')}</p> : null}
    </section>
  )
}

function ItemText({ text, detail, isCritical = false, channelId = null }: Omit<Item, 'key'>): ReactNode {
  const name = <bdi data-critical={isCritical || undefined}>{text}</bdi>
  return (
    <>
      {channelId === null ? (
        name
      ) : (
        <Link to="/channels/$id" params={{ id: String(channelId) }}>
          {name}
        </Link>
      )}
      {detail ? <small>{` (${detail})`}</small> : null}
    </>
  )
}
