import { UserRoundPlus } from 'lucide-react'
import { t } from '../../app/i18n.ts'

interface AssignButtonProps {
  readonly slot: number
  readonly name: string
  readonly picture?: string | null
  assign(slot: number): void
}

export function AssignButton({ slot, name, picture = null, assign }: AssignButtonProps) {
  const text = t('card.assign', { name })
  return (
    <button type="button" className="card-assign" title={text} aria-label={text} onClick={() => assign(slot)}>
      {picture === null ? (
        <UserRoundPlus className="icon" aria-hidden="true" />
      ) : (
        <img className="card-portrait" src={picture} alt="" />
      )}
    </button>
  )
}
