import type { PlaceholderInData } from '../../../src/contract/placeholders.ts'
import type { SlotRecord } from '../../../src/contract/slots.ts'
import { useRecordOf, useWatchState } from '../../app/context.ts'
import { formatMegahertz, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { placeholderTitle, showable } from '../../app/slot-records.ts'
import { AssignButton } from '../slots/assign-button.tsx'
import { StateIcon, StateWord } from '../state-icon.tsx'
import type { CardActions } from './channel-card.tsx'
import { SlotNumber } from './slot-number.tsx'

interface ShownPlaceholder extends PlaceholderInData {
  readonly title: string
  readonly record: SlotRecord | undefined
}

export function usePlaceholder(id: number): ShownPlaceholder | null {
  const placeholder = useWatchState(({ placeholders }) => placeholders.find((placeholder) => placeholder.id === id))
  const title = useWatchState(({ slotRecords }) => placeholder && placeholderTitle(slotRecords, placeholder))
  const record = useRecordOf('placeholder', id)
  return placeholder === undefined || title === undefined ? null : { ...placeholder, title, record }
}

interface PlaceholderCardProps {
  readonly id: number
  readonly actions?: CardActions | undefined
}

export function PlaceholderCard({ id, actions }: PlaceholderCardProps) {
  const placeholder = usePlaceholder(id)
  if (placeholder === null) return null
  const { slot, title, kind, frequency, note, record } = placeholder
  return (
    <li className="card placeholder" data-state="unmonitored" data-severity="ok">
      <div className="card-head">
        <SlotNumber slot={slot} color={record?.color} />
        <span className="card-state">
          <StateIcon state="unmonitored" />
          <StateWord state="unmonitored" />
        </span>
      </div>
      <div className="card-who">
        <bdi className="placeholder-name" dir="auto">
          {title}
        </bdi>
        {actions?.mayOperate === true ? (
          <AssignButton
            {...{ slot }}
            name={title || t('card.slot', { slot })}
            picture={showable(record?.performer?.picture ?? null)}
            assign={actions.assign}
          />
        ) : null}
      </div>
      <p className="placeholder-kind">
        {[t(`card.kinds.${kind}`), frequency === null ? null : formatMegahertz(frequency), plainText(note)]
          .filter(Boolean)
          .join(' · ')}
      </p>
    </li>
  )
}

export function PlannedCard({ slot, actions }: { slot: number; actions?: CardActions | undefined }) {
  return (
    <li className="card planned">
      <SlotNumber slot={slot} />
      <span className="planned-text">{t('card.planned')}</span>
      {actions?.mayOperate === true ? (
        <AssignButton {...{ slot }} name={t('card.slot', { slot })} assign={actions.assign} />
      ) : null}
    </li>
  )
}

export function Spacer() {
  return <li className="spacer" aria-hidden="true" />
}
