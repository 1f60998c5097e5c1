import { formatDateTime, formatDbfs, formatMoment, formatPercent, formatTimeLeft, formatUnit } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { listValues, type StepValues } from './fold.ts'
import { type Source, tierFor } from './level-blocks.ts'
import type { LevelLoader } from './level-loader.ts'
import type { Names } from './names.ts'
import { rfText, stateText } from './overlay.ts'
import type { TimeRange } from './range.ts'
import type { Row } from './use-timeline.ts'

const mostRows = 120
/** In pixels. A table has no strips to measure, so it shows the levels for this width. */
export const tableWidth = 240

interface LevelTableProps {
  readonly rows: readonly Row[]
  /** Null for a summary of all channels. */
  readonly channelId: number | null
  readonly names: Names
  readonly range: TimeRange
  readonly loader: LevelLoader
  readonly now: number
}

export function LevelTable(props: LevelTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it can be scrolled by keyboard.
    <section className="timeline-table" aria-label={t('timeline.table')} tabIndex={0}>
      <ValueTable {...props} />
    </section>
  )
}

/** At each time for one channel, otherwise one row for each channel. */
export function ValueTable({ rows, channelId, names, range, loader, now }: LevelTableProps) {
  const step = tierFor(range.span / tableWidth)
  const to = Math.min(range.from + range.span, now)
  const valuesOf = (id: number, maxRows: number) =>
    listValues((at): Source => loader.cache.find(id, step, at), range.from, to, maxRows)
  const one = rows.find((row) => row.channelId === channelId) ?? (rows.length === 1 ? rows[0] : undefined)
  const caption = t('timeline.rangeText', {
    from: formatDateTime(range.from),
    to: formatDateTime(range.from + range.span),
  })
  const columns = ['state', 'rf', 'audio', 'quality', 'battery', 'timeLeft', 'weak'] as const
  const heading = one === undefined ? t('timeline.channel') : t('timeline.time')
  return (
    <table className="data-table">
      <caption>{one === undefined ? caption : `${names.text(one)} · ${caption}`}</caption>
      <thead>
        <tr>
          <th scope="col">{heading}</th>
          {columns.map((column) => (
            <th key={column} scope="col">
              {t(`timeline.columns.${column}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {one === undefined
          ? rows.map((row) => (
              <ValueRow
                key={row.channelId}
                heading={names.text(row)}
                values={total(valuesOf(row.channelId, mostRows))}
              />
            ))
          : valuesOf(one.channelId, mostRows).map((values) => (
              <ValueRow key={values.from} heading={formatMoment(values.from, now)} values={values} />
            ))}
      </tbody>
    </table>
  )
}

function ValueRow({ heading, values }: { heading: string; values: StepValues | null }) {
  if (values === null) {
    return (
      <tr>
        <th scope="row">{heading}</th>
        <td colSpan={7}>{t('timeline.notLoaded')}</td>
      </tr>
    )
  }
  const { state, rfMin, rfMax, audioMax, quality, battery, minutes, weakMs } = values
  const unknown = t('channel.unknownValue')
  return (
    <tr>
      <th scope="row">{heading}</th>
      <td>{stateText(state)}</td>
      <td>{rfMin === null || rfMax === null ? unknown : rfText(rfMin, rfMax)}</td>
      <td>{audioMax === null ? unknown : formatDbfs(audioMax)}</td>
      <td>{quality === null ? unknown : formatPercent(quality)}</td>
      <td>{battery === null ? unknown : formatPercent(battery)}</td>
      <td>{minutes === null ? unknown : formatTimeLeft(minutes)}</td>
      <td>{weakMs === 0 ? unknown : formatUnit('second', Math.max(0.1, Math.round(weakMs / 100) / 10))}</td>
    </tr>
  )
}

function total(list: readonly StepValues[]): StepValues | null {
  const last = list.findLast(({ state }) => state !== '-') ?? list.at(-1)
  if (last === undefined) return null
  const known = (key: 'rfMin' | 'rfMax' | 'audioMax' | 'quality') =>
    list.flatMap((values) => (values[key] === null ? [] : [values[key]]))
  const least = (values: readonly number[]) => (values.length === 0 ? null : Math.min(...values))
  const most = (values: readonly number[]) => (values.length === 0 ? null : Math.max(...values))
  return {
    ...last,
    rfMin: least(known('rfMin')),
    rfMax: most(known('rfMax')),
    audioMax: most(known('audioMax')),
    quality: least(known('quality')),
    battery: list.findLast(({ battery }) => battery !== null)?.battery ?? null,
    minutes: list.findLast(({ minutes }) => minutes !== null)?.minutes ?? null,
    weakMs: list.reduce((sum, { weakMs }) => sum + weakMs, 0),
  }
}
