/** Every state has a distinct shape, so that it can be recognized without colour. */

import {
  Activity,
  ArrowUpToLine,
  BatteryCharging,
  BatteryMedium,
  BatteryWarning,
  Check,
  Circle,
  CircleDashed,
  Hourglass,
  KeyRound,
  type LucideIcon,
  MicOff,
  OctagonAlert,
  Power,
  Radio,
  RadioOff,
  TriangleAlert,
  Unplug,
  VolumeX,
  Zap,
} from 'lucide-react'
import { type ConditionFlag, type ConditionState, isException } from '../app/conditions.ts'
import { t } from '../app/i18n.ts'

const icons: Record<ConditionState | ConditionFlag, LucideIcon> = {
  ok: Check,
  no_battery_data: Circle,
  unmonitored: CircleDashed,
  battery_replace_soon: BatteryMedium,
  battery_low: TriangleAlert,
  battery_critical: OctagonAlert,
  battery_died: BatteryWarning,
  encryption_error: KeyRound,
  rf_weak: RadioOff,
  rf_fair: Radio,
  rf_concealed: RadioOff,
  interference: Zap,
  no_audio: VolumeX,
  muted: MicOff,
  clipping: ArrowUpToLine,
  charging: BatteryCharging,
  tx_off: Power,
  receiver_offline: Unplug,
  stale: Hourglass,
  no_levels: Activity,
}

export function StateIcon({ state }: { state: ConditionState | ConditionFlag }) {
  const Icon = icons[state]
  return <Icon className="icon" aria-hidden="true" />
}

/** Assistive technology reads the word even if it is not visible. */
export function StateWord({ state }: { state: ConditionState }) {
  return <span className={isException(state) ? undefined : 'visually-hidden'}>{t(`states.${state}`)}</span>
}

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
