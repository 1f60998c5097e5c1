/** A toggle that keeps the screen awake; it says if the browser cannot. */

import { t } from '../app/i18n.ts'
import { useWakeLock } from './wake-lock.ts'

export function KeepAwake() {
  const { isOn, problem, toggle } = useWakeLock()
  return (
    <button type="button" className="choice" aria-pressed={isOn} disabled={problem === 'unsupported'} onClick={toggle}>
      {problem === null ? t('live.awake.title') : t(`live.awake.${problem}`)}
    </button>
  )
}
