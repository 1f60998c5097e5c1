/** Everything a device has told so far, and what has just become new of it. */

import { cutStars, type Frame, parseFrame } from './frames.ts'

export interface Heard {
  /** Channels of which anything but meters has changed. */
  readonly channels: ReadonlySet<number>
  /** Channels that have metered. */
  readonly metered: ReadonlySet<number>
  /** Something of the device itself has changed. */
  readonly isWhole: boolean
  /** How many frames made no sense. */
  readonly malformed: number
}

export interface Hearing {
  /** `MODEL` of the device, `1 FREQUENCY` of a channel. */
  readonly words: Readonly<Record<string, string>>
  /** Whether the device has said anything at all. */
  hasHeard(): boolean
  /** What has come since; of nothing within `waitMs` nothing is new. Null when the conversation has ended. */
  next(waitMs?: number): Promise<Heard | null>
}

/** No receiver tells half as much: an ANX4 has up to 24 channels, each with up to eight slots. */
const maxWords = 8_000
/** PSM 1000 meters in properties. */
const meterKey = /^AUDIO_IN_LVL_[LR]$/

export function createHearing(messages: AsyncIterable<readonly string[]>, isDatagrams: boolean): Hearing {
  const words: Record<string, string> = Object.create(null)
  const iterator = messages[Symbol.asyncIterator]()
  let pending: Promise<IteratorResult<readonly string[]>> | undefined
  let size = 0
  let isHeard = false

  async function next(waitMs?: number): Promise<Heard | null> {
    pending ??= iterator.next()
    const result = await (waitMs === undefined ? pending : within(pending, waitMs))
    if (result === 'late') return takeIn([])
    pending = undefined
    if (result.done) return null
    return takeIn(isDatagrams ? result.value.flatMap(cutStars) : result.value)
  }

  function takeIn(messages: readonly string[]): Heard {
    const channels = new Set<number>()
    const metered = new Set<number>()
    let isWhole = false
    let malformed = 0
    for (const message of messages) {
      isHeard = true
      const frame = parseFrame(message)
      if (frame === null) malformed += 1
      else if (frame.type !== 'refused' && learn(frame)) {
        if (frame.channel === null) isWhole = true
        else if (frame.type === 'sample' || meterKey.test(frame.key)) metered.add(frame.channel)
        else channels.add(frame.channel)
      }
    }
    return { channels, metered, isWhole, malformed }
  }

  /** Whether it is new. */
  function learn(frame: Exclude<Frame, { type: 'refused' }>): boolean {
    const name = frame.type === 'sample' ? 'SAMPLE' : frame.key
    const key = frame.channel === null ? name : `${frame.channel} ${name}`
    const before = words[key]
    if (before === frame.value) return false
    if (before === undefined) {
      if (size >= maxWords) return false
      size += 1
    }
    words[key] = frame.value
    return true
  }

  return { words, hasHeard: () => isHeard, next }
}

async function within<T>(promise: Promise<T>, ms: number): Promise<T | 'late'> {
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
