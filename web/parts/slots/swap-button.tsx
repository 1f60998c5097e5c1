import { ArrowLeftRight } from 'lucide-react'
import type { ChannelFacts } from '../../app/channel-state.ts'
import { useRemeasure } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { useMay } from '../../app/session.ts'

interface SwapButtonProps {
  readonly facts: Pick<ChannelFacts, 'title' | 'site'>
  readonly className: string
  readonly isIcon?: boolean
  /** Opens the choice of slots. One more press swaps. */
  onPress(): void
}

/** Renders nothing without permission, or for a channel of a site. */
export function SwapButton({ facts: { title, site }, className, isIcon = false, onPress }: SwapButtonProps) {
  const mayOperate = useMay('operate')
  useRemeasure()
  if (!mayOperate || site !== null) return null
  const label = t('swap.toSpare', { name: title })
  return (
    <button type="button" className={className} title={label} aria-label={label} onClick={onPress}>
      <ArrowLeftRight className="icon" aria-hidden="true" />
      {isIcon ? null : t('swap.action')}
    </button>
  )
}
