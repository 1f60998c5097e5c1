/** Stores every property that a device has reported, and determines the changes by the latest frames. */

import { type Frame, parseFrame, splitStarFrames } from './frames.ts'

export interface Changes {
  /** Channels with a changed property other than meters. */
  readonly channels: ReadonlySet<number>
  /** Channels with new meter values, even if they are the same. */
  readonly metered: ReadonlySet<number>
  /** True if a property of the device as a whole has changed. */
  readonly affectsDevice: boolean
  /** Frames that could not be parsed. */
  readonly malformed: number
}

export interface PropertyStore {
  /** Keyed by `MODEL` for the device and `1 FREQUENCY` for a channel. */
  readonly values: Readonly<Record<string, string>>
  hasReceived(): boolean
  refusedCount(): number
  /** Removes the meter values of a channel. */
  dropSample(channel: number): void
  /**
   * Applies the next frames. Resolves with no changes after `waitMs` without data, and with null when the session ends.
   */
  next(waitMs?: number): Promise<Changes | null>
}

/** More than twice as many as any device reports. The largest, an ANX4, has up to 24 channels with eight slots each. */
const maxProperties = 8_000
/** PSM 1000 reports its meters as properties. Those of a secondary MXW microphone are stored as one. */
const meterKey = /^(?:AUDIO_IN_LVL_[LR]|SEC SAMPLE)$/

/** `onValue` is called with every new value. */
export function createPropertyStore(
  messages: AsyncIterable<readonly string[]>,
  isDatagrams: boolean,
  onValue: (key: string, value: string) => void = () => {},
): PropertyStore {
  const values: Record<string, string> = Object.create(null)
  const iterator = messages[Symbol.asyncIterator]()
  let pending: Promise<IteratorResult<readonly string[]>> | undefined
  let size = 0
  let hasReceived = false
  let refusedCount = 0

  async function next(waitMs?: number): Promise<Changes | null> {
    pending ??= iterator.next()
    const result = await (waitMs === undefined ? pending : withTimeout(pending, waitMs))
    if (result === 'late') return applyMessages([])
    pending = undefined
    if (result.done) return null
    return applyMessages(isDatagrams ? result.value.flatMap(splitStarFrames) : result.value)
  }

  function applyMessages(messages: readonly string[]): Changes {
    const channels = new Set<number>()
    const metered = new Set<number>()
    let affectsDevice = false
    let malformed = 0
    for (const message of messages) {
      hasReceived = true
      const frame = parseFrame(message)
      if (frame === null) malformed += 1
      else if (frame.type === 'refused') refusedCount += 1
      else if (frame.channel !== null && (frame.type === 'sample' || meterKey.test(frame.key))) {
        applyFrame(frame)
        metered.add(frame.channel)
      } else if (applyFrame(frame)) {
        if (frame.channel === null) affectsDevice = true
        else channels.add(frame.channel)
      }
    }
    return { channels, metered, affectsDevice, malformed }
  }

  /** Returns true if the value differs from the previous one. */
  function applyFrame(frame: Exclude<Frame, { type: 'refused' }>): boolean {
    const name = frame.type === 'sample' ? 'SAMPLE' : frame.key
    const key = frame.channel === null ? name : `${frame.channel} ${name}`
    return values[key] !== frame.value && put(key, frame.value)
  }

  /** Returns false if the store is full. */
  function put(key: string, value: string): boolean {
    if (values[key] === undefined) {
      if (size >= maxProperties) return false
      size += 1
    }
    values[key] = value
    onValue(key, value)
    return true
  }

  return {
    values,
    hasReceived: () => hasReceived,
    refusedCount: () => refusedCount,
    dropSample(channel) {
      const key = `${channel} SAMPLE`
      if (values[key] === undefined) return
      delete values[key]
      size -= 1
    },
    next,
  }
}

async function withTimeout<T>(promise: Promise<T>, ms: number): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, ms, 'late')
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
