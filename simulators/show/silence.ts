/** Simulated devices that stop sending levels, facts or one channel. Their connections stay open. */

/** `levels`: no levels; `facts`: nothing but levels; a number: nothing about this channel. */
export type Silence = 'levels' | 'facts' | number

export interface SentValue {
  readonly isLevel: boolean
  /** Null for a value of the device as a whole. */
  readonly channel: number | null
}

export function isSilenced(silence: Silence | null, { isLevel, channel }: SentValue): boolean {
  if (silence === 'levels') return isLevel
  return silence === 'facts' ? !isLevel : silence !== null && channel === silence
}
