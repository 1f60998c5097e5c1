/** Elapsed time, counting up, alone and as "5 min ago". */

import { useWatchState } from '../context.ts'
import { formatDuration, formatShortDuration } from '../format.ts'
import { t } from '../i18n.ts'

interface AgeProps {
  readonly since: number
  readonly isShort?: boolean
}

export function Age({ since, isShort = false }: AgeProps) {
  const age = useWatchState((watchState) => (isShort ? formatShortDuration : formatDuration)(watchState.now - since))
  return <span className="age">{age}</span>
}

/** The elapsed time as "5 min ago". */
export function AgeAgo({ since }: Pick<AgeProps, 'since'>) {
  const age = useWatchState((watchState) => formatShortDuration(watchState.now - since))
  return <span className="age">{t('card.ago', { age })}</span>
}
