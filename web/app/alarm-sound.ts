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
