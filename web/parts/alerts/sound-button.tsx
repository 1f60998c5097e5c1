/** Says whether the browser blocks the sound. A replay has no sound. In a kiosk, the button only unblocks it. */

import { useSyncExternalStore } from 'react'
import { useServices } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { useIsKiosk } from '../../app/query.ts'

export function SoundButton({ className = 'sound' }: { className?: string }) {
  const { alarm, replay } = useServices()
  const state = useSyncExternalStore(alarm.subscribe, () => alarm.get().sound)
  const isKiosk = useIsKiosk()
  if (replay !== null) return null
  if (isKiosk && state !== 'blocked') return <span className="footer-item">{t(`sound.${state}`)}</span>
  return (
    <button
      type="button"
      className={className}
      data-state={state}
      aria-pressed={state === 'on'}
      onClick={() => void alarm.toggleSound()}
    >
      {t(`sound.${state}`)}
    </button>
  )
}
