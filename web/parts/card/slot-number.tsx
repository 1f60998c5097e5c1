import type { CSSProperties } from 'react'
import type { SlotColor } from '../../../src/contract/values.ts'
import { t } from '../../app/i18n.ts'

interface SlotNumberProps {
  readonly slot: number
  readonly color?: SlotColor | null | undefined
}

/** The number of a slot, with a mark in its color. */
export function SlotNumber({ slot, color = null }: SlotNumberProps) {
  return (
    <span className="card-slot">
      <span className="visually-hidden">{t('card.slot', { slot })}</span>
      <span aria-hidden="true">{slot}</span>
      <SlotMark color={color} />
    </span>
  )
}

export function SlotMark({ color }: { readonly color: SlotColor | null | undefined }) {
  if (!color) return null
  const text = t(`card.colors.${color}`)
  return (
    <span className="slot-mark" style={{ '--mark': `var(--slot-${color})` } as CSSProperties} title={text}>
      <span className="visually-hidden"> {text}</span>
    </span>
  )
}
