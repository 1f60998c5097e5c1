import { useEffect, useState } from 'react'
import { t } from '../../app/i18n.ts'
import { readLocal, writeLocal } from '../../app/local-storage.ts'

const storageKey = 'micwatch.awake'

export interface WakeLock {
  readonly isOn: boolean
  /** `unsupported`: the API needs a secure page. `refused`: for example because the battery is low. */
  readonly problem: 'unsupported' | 'refused' | null
  toggle(): void
}

export function useWakeLock(): WakeLock {
  const [isOn, setOn] = useState(() => readLocal(storageKey) === 'on')
  const { isSupported, isRefused } = useScreenAwake(isOn)
  return {
    isOn: isOn && isSupported,
    problem: isSupported ? (isOn && isRefused ? 'refused' : null) : 'unsupported',
    toggle() {
      writeLocal(storageKey, isOn ? 'off' : 'on')
      setOn(!isOn)
    },
  }
}

export function useScreenAwake(isWanted: boolean): { readonly isSupported: boolean; readonly isRefused: boolean } {
  const [isRefused, setRefused] = useState(false)
  const isSupported = 'wakeLock' in navigator
  useEffect(() => {
    if (!isWanted || !isSupported) return
    let lock: WakeLockSentinel | null = null
    let isEnded = false
    const request = async () => {
      if (document.visibilityState !== 'visible') return
      try {
        const requested = await navigator.wakeLock.request('screen')
        if (isEnded) await requested.release()
        else lock = requested
        setRefused(false)
      } catch {
        setRefused(true)
      }
    }
    void request()
    // The browser releases the lock when the page is hidden.
    document.addEventListener('visibilitychange', request)
    return () => {
      isEnded = true
      document.removeEventListener('visibilitychange', request)
      void lock?.release()
    }
  }, [isWanted, isSupported])
  return { isSupported, isRefused }
}

export function KeepAwake() {
  return <AwakeButton lock={useWakeLock()} />
}

export function AwakeButton({ lock: { isOn, problem, toggle } }: { lock: WakeLock }) {
  return (
    <button type="button" className="choice" aria-pressed={isOn} disabled={problem === 'unsupported'} onClick={toggle}>
      {problem === null ? t('live.awake.title') : t(`live.awake.${problem}`)}
    </button>
  )
}
