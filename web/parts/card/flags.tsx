import type { ConditionFlag } from '../../app/conditions.ts'
import { t } from '../../app/i18n.ts'
import { StateIcon } from '../state-icon.tsx'

export function Flags({ flags }: { flags: readonly ConditionFlag[] }) {
  return (
    <span className="flags">
      {flags.map((flag) => (
        <span key={flag} className="flag" data-flag={flag} title={t(`flags.${flag}`)}>
          <StateIcon state={flag} />
          <span className="visually-hidden">{t(`flags.${flag}`)}</span>
        </span>
      ))}
    </span>
  )
}
