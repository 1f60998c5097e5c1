/** Columns that do not fit are hidden, the least important first. */

import { Link } from '@tanstack/react-router'
import { type CSSProperties, memo, type ReactNode, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { ChannelFacts } from '../app/channel-state.ts'
import { type Column, characterEm, chosenColumns, fitColumns, isNarrow, sortOf, widthOf } from '../app/columns.ts'
import { useFacts } from '../app/context.ts'
import { formatMegahertz, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useIsKiosk } from '../app/query.ts'
import { listColumns, type Sort, type View } from '../app/view.ts'
import { ValueAge } from '../parts/age.tsx'
import { HandledMark } from '../parts/alerts/handled-mark.tsx'
import { Battery } from '../parts/card/battery.tsx'
import { Carrier } from '../parts/card/carrier.tsx'
import type { CardActions } from '../parts/card/channel-card.tsx'
import { SoundMark } from '../parts/card/listen-button.tsx'
import { usePlaceholder } from '../parts/card/placeholder-card.tsx'
import { SlotMark } from '../parts/card/slot-number.tsx'
import { TimeLeft, WillNotLast } from '../parts/card/time-left.tsx'
import { parseSort } from '../parts/channels/channel-order.ts'
import type { VisibleSlot } from '../parts/channels/visible-slots.ts'
import { antennaLabelOf, antennaTextOf, audioTextOf, Level, qualityTextOf, rfATextOf } from '../parts/meters/meters.tsx'
import { AssignButton } from '../parts/slots/assign-button.tsx'
import { Flags, StateIcon, StateWord } from '../parts/state-icon.tsx'
import { countInView, useIsNear } from '../parts/use-near.ts'

interface ChannelTableProps {
  readonly entries: readonly VisibleSlot[]
  /** The number of all entries, of which `entries` are the first. */
  readonly count: number
  readonly view: Pick<View, 'sort' | 'columns'>
  readonly actions: CardActions
  change(view: Partial<View>): void
}

/** CSS pixels. Rows on touch screens and narrow pages are higher. */
const rowHeight = 28

export function ChannelTable({ entries, count, view, actions, change }: ChannelTableProps) {
  const table = useRef<HTMLTableElement>(null)
  const width = useWidthInCharacters(table)
  const [inView] = useState(() => countInView({ width: innerWidth, height: rowHeight }))
  const columns = useMemo(
    () => (width === null ? [] : fitColumns(chosenColumns(listColumns(view.columns)), width)),
    [view.columns, width],
  )
  const style = { '--columns': columns.map((column) => trackOf(column, width ?? 0)).join(' ') } as CSSProperties
  return (
    <table
      className="channels"
      ref={table}
      data-narrow={isNarrow(width ?? 0) || undefined}
      style={style}
      aria-rowcount={count + 1}
    >
      <caption className="visually-hidden">{t('live.table.caption')}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <Heading key={column} column={column} sort={view.sort} change={change} />
          ))}
        </tr>
      </thead>
      <tbody>
        {columns.length === 0
          ? null
          : entries.map((entry, index) => (
              <Entry key={keyOf(entry)} isFirst={index < inView} {...{ entry, columns, actions }} />
            ))}
      </tbody>
    </table>
  )
}

function trackOf(column: Column, tableWidth: number): string {
  return column === 'name' ? 'minmax(0, 1fr)' : `${widthOf(column, tableWidth) * characterEm}em`
}

function keyOf(entry: VisibleSlot): string {
  return entry.kind === 'channel' ? `channel ${entry.channelId}` : `slot ${entry.slot}`
}

/** Null until the table is measured. */
function useWidthInCharacters(table: React.RefObject<HTMLTableElement | null>): number | null {
  const [width, setWidth] = useState<number | null>(null)
  useLayoutEffect(() => {
    const element = table.current
    const parent = element?.parentElement
    if (!element || !parent) return
    const measure = () => {
      const em = Number.parseFloat(getComputedStyle(element).fontSize)
      setWidth(Math.floor(parent.clientWidth / (em * characterEm)))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(parent)
    return () => observer.disconnect()
  }, [table])
  return width
}

interface HeadingProps {
  readonly column: Column
  readonly sort: Sort
  change(view: Partial<View>): void
}

function Heading({ column, sort, change }: HeadingProps) {
  const by = sortOf(column)
  const { key, isDescending } = parseSort(sort)
  const isKiosk = useIsKiosk()
  const isSorted = key === by
  const next: Sort = isSorted && !isDescending ? `-${by}` : by
  return (
    <th scope="col" data-column={column} aria-sort={isSorted ? (isDescending ? 'descending' : 'ascending') : undefined}>
      {isKiosk ? (
        t(`live.table.columns.${column}`)
      ) : (
        <button type="button" onClick={() => change({ sort: next })}>
          {t(`live.table.columns.${column}`)}
        </button>
      )}
    </th>
  )
}

interface EntryProps {
  readonly entry: VisibleSlot
  readonly isFirst: boolean
  readonly columns: readonly Column[]
  readonly actions: CardActions
}

const Entry = memo(function Entry({ entry, isFirst, columns, actions }: EntryProps) {
  switch (entry.kind) {
    case 'channel':
      return <ChannelRow receiverId={entry.receiverId} channelId={entry.channelId} {...{ isFirst, columns, actions }} />
    case 'placeholder':
      return <PlaceholderRow id={entry.placeholderId} {...{ columns, actions }} />
    case 'planned':
      return (
        <tr className="row-planned">
          {columns.map((column) => (
            <td key={column} data-column={column}>
              {column === 'slot' ? entry.slot : null}
              {column === 'name' ? (
                <RowName slot={entry.slot} name={t('card.slot', { slot: entry.slot })} actions={actions}>
                  {t('card.planned')}
                </RowName>
              ) : null}
            </td>
          ))}
        </tr>
      )
    case 'spacer':
      return null
    default:
      return entry satisfies never
  }
})

interface RowNameProps {
  readonly slot: number
  readonly name: string
  readonly actions: CardActions
  readonly isNear?: boolean
  readonly children: ReactNode
}

/** With a button for users who may assign performers. The link keeps the focus when the button appears. */
function RowName({ slot, name, actions, isNear = true, children }: RowNameProps) {
  if (!actions.mayOperate) return children
  return (
    <span className="row-name">
      <span>{children}</span>
      {isNear ? <AssignButton {...{ slot, name }} assign={actions.assign} /> : null}
    </span>
  )
}

interface RowProps {
  readonly receiverId: number
  readonly channelId: number
  readonly columns: readonly Column[]
  readonly actions: CardActions
}

/** Until a row is near the viewport, it has only these cells, for screen readers and find in page. */
const farColumns: readonly Column[] = ['slot', 'name', 'state']

function ChannelRow({ receiverId, channelId, isFirst, columns, actions }: RowProps & Pick<EntryProps, 'isFirst'>) {
  const facts = useFacts(receiverId, channelId)
  const [isNear, ref] = useIsNear<HTMLTableRowElement>(isFirst)
  if (facts === null) return null
  return (
    <tr
      ref={ref}
      data-channel={channelId}
      data-state={facts.state}
      data-severity={facts.condition.severity}
      data-attention={facts.needsAttention || undefined}
    >
      {columns.map((column) => {
        const isName = column === 'name'
        const Cell = isName ? 'th' : 'td'
        return (
          <Cell key={column} data-column={column} scope={isName ? 'row' : undefined}>
            {isName ? (
              <RowName slot={facts.slot} name={facts.title} actions={actions} isNear={isNear}>
                {cells.name(facts)}
              </RowName>
            ) : isNear || farColumns.includes(column) ? (
              cells[column](facts)
            ) : null}
          </Cell>
        )
      })}
    </tr>
  )
}

const cells: Readonly<Record<Column, (facts: ChannelFacts) => ReactNode>> = {
  slot: ({ slot, color }) => (
    <>
      {slot}
      <SlotMark color={color} />
    </>
  ),
  name: (facts) => <NameCell facts={facts} />,
  performer: ({ performer, role }) => <PerformerCell performer={performer} role={role} />,
  state: (facts) => (
    <span className="card-state">
      <StateIcon state={facts.state} />
      <StateWord state={facts.state} />
      <ValueAge facts={facts} />
      <HandledMark facts={facts} />
      <SoundMark facts={facts} />
    </span>
  ),
  battery: (facts) => <Battery facts={facts} />,
  // An old forecast is no longer valid.
  time_left: (facts) =>
    facts.isBatteryOld ? (
      t('card.none')
    ) : (
      <>
        <TimeLeft facts={facts} /> <WillNotLast channelId={facts.channelId} />
      </>
    ),
  rf_a: (facts) => <Level {...idsOf(facts)} textOf={rfATextOf} labelOf={antennaLabelOf} />,
  rf_b: (facts) => <Level {...idsOf(facts)} textOf={antennaTextOf.b} labelOf={antennaLabelOf} />,
  audio: (facts) => <Level {...idsOf(facts)} textOf={audioTextOf} />,
  quality: (facts) => <Level {...idsOf(facts)} textOf={qualityTextOf} />,
  frequency: (facts) => <Carrier facts={facts} />,
  receiver: ({ receiverName, channel }) => (
    <>
      <bdi dir="auto">{receiverName}</bdi>·{channel}
    </>
  ),
  flags: ({ flags }) => <Flags flags={flags} />,
}

function PerformerCell({ performer, role }: { performer: string | null; role: string | null }) {
  if (performer === null) return t('card.none')
  return (
    <>
      <bdi dir="auto">{performer}</bdi>
      {role === null ? null : (
        <>
          {' · '}
          <bdi className="row-second">{role}</bdi>
        </>
      )}
    </>
  )
}

function NameCell({ facts: { channelId, token, name, ownName } }: { facts: ChannelFacts }) {
  const isKiosk = useIsKiosk()
  const title = (
    <>
      <bdi dir="auto">{name}</bdi>
      {token === null ? null : <span className="row-second"> {token}</span>}
      {ownName === null ? null : <bdi className="row-second"> {ownName}</bdi>}
    </>
  )
  if (isKiosk) return title
  return (
    <Link to="/channels/$id" params={{ id: String(channelId) }}>
      {title}
    </Link>
  )
}

function idsOf({ receiverId, channelId }: ChannelFacts) {
  return { receiverId, channelId }
}

function PlaceholderRow({ id, columns, actions }: Pick<RowProps, 'columns' | 'actions'> & { id: number }) {
  const placeholder = usePlaceholder(id)
  if (placeholder === null) return null
  const { slot, title, kind, frequency, record } = placeholder
  const contents: Partial<Record<Column, ReactNode>> = {
    slot: (
      <>
        {slot}
        <SlotMark color={record?.color} />
      </>
    ),
    name: (
      <RowName slot={slot} name={title || t('card.slot', { slot })} actions={actions}>
        <bdi dir="auto">{title}</bdi>
      </RowName>
    ),
    performer: (
      <PerformerCell
        performer={record?.performer ? plainText(record.performer.name) : null}
        role={record?.role ? plainText(record.role) : null}
      />
    ),
    state: (
      <span className="card-state">
        <StateIcon state="unmonitored" />
        <StateWord state="unmonitored" />
      </span>
    ),
    frequency: frequency === null ? null : formatMegahertz(frequency),
    receiver: t(`card.kinds.${kind}`),
  }
  return (
    <tr data-state="unmonitored" data-severity="ok">
      {columns.map((column) => (
        <td key={column} data-column={column}>
          {contents[column]}
        </td>
      ))}
    </tr>
  )
}
