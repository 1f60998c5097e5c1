/** A question mark if unknown, hatched if only the last value is known. */

import type { ChannelFacts } from '../../app/channel-state.ts'
import { formatPercent } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'

const bars = [0, 1, 2, 3, 4] as const

export function Battery({ facts }: { facts: ChannelFacts }) {
  const { battery: percent, batteryLevel, isBatteryOld: isOld, isBatteryEstimate } = facts
  const full = percent === null ? 0 : Math.ceil(percent / 20)
  return (
    <span className="battery" data-level={batteryLevel} data-old={isOld || undefined}>
      <svg className="battery-shape" viewBox="0 0 40 16" aria-hidden="true">
        <path className="battery-case" d="M1.5 1.5h34v13h-34ZM38 5.5v5" />
        {bars.map((bar) =>
          bar < full ? <rect key={bar} className="battery-bar" x={4 + bar * 6} y="4" width="5" height="8" /> : null,
        )}
        {percent === null ? (
          <path className="battery-unknown" d="M16 6a2.5 2.5 0 1 1 3.4 2.3c-.7.3-.9.7-.9 1.4M18.5 11.6v.6" />
        ) : null}
      </svg>
      <span className="battery-percent" aria-hidden="true">
        {percent === null
          ? t('card.percentUnknown')
          : isBatteryEstimate
            ? t('card.estimate', { percent: formatPercent(percent) })
            : formatPercent(percent)}
      </span>
      <span className="visually-hidden">{accessibleText(percent, isOld)}</span>
    </span>
  )
}

function accessibleText(percent: number | null, isOld: boolean): string {
  if (percent === null) return t('card.noBattery')
  return isOld
    ? t('card.lastBattery', { percent: formatPercent(percent) })
    : t('card.battery', { percent: formatPercent(percent) })
}
