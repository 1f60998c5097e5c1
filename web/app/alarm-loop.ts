import type { AlertBody } from '../../src/contract/alerts.ts'

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

export type AlarmSeverity = 'critical' | 'warning'

/** Hz. A critical alarm is longer and falls in pitch, so that it differs on any loudspeaker. */
const tones: Readonly<Record<AlarmSeverity, readonly number[]>> = {
  critical: [880, 660, 880, 660],
  warning: [660, 660],
}
const toneSeconds = 0.16
const spacingSeconds = 0.18
const fadeSeconds = 0.01
const loudness = 0.35

export function playAlarm(context: AudioContext, severity: AlarmSeverity): void {
  for (const [index, frequency] of tones[severity].entries()) {
    const tone = new OscillatorNode(context, { type: 'triangle', frequency })
    const volume = new GainNode(context, { gain: 0 })
    const start = context.currentTime + index * spacingSeconds
    volume.gain.setValueAtTime(0, start)
    volume.gain.linearRampToValueAtTime(loudness, start + fadeSeconds)
    volume.gain.linearRampToValueAtTime(0, start + toneSeconds - fadeSeconds)
    tone.connect(volume).connect(context.destination)
    tone.start(start)
    tone.stop(start + toneSeconds)
  }
}
