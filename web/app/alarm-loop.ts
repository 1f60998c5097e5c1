import type { AlertBody } from '../../src/contract/alerts.ts'
import type { AlarmSeverity } from './alarm-sound.ts'

type Sounding = Pick<AlertBody, 'id' | 'severity'>

export interface AlarmLoop {
  readonly isActive: boolean
  /** A new alert sounds at once. */
  update(alerts: readonly Sounding[]): void
  play(): void
  stop(): void
}

const repeatMs = 5_000

export function createAlarmLoop(sound: (severity: AlarmSeverity) => void): AlarmLoop {
  let current: readonly Sounding[] = []
  let timer: ReturnType<typeof setInterval> | undefined

  function play() {
    if (current.length === 0) return
    sound(current.some(({ severity }) => severity === 'critical') ? 'critical' : 'warning')
  }

  function stop() {
    current = []
    clearInterval(timer)
  }

  return {
    get isActive() {
      return current.length > 0
    },
    play,
    stop,
    update(alerts) {
      const isAdded = alerts.some(({ id }) => current.every((known) => known.id !== id))
      if (alerts.length === 0) return stop()
      current = alerts
      if (!isAdded) return
      clearInterval(timer)
      timer = setInterval(play, repeatMs)
      play()
    },
  }
}
