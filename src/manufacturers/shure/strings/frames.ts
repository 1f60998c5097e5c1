/**
 * Parses the frames of Shure command strings: `< REP 1 CHAN_NAME {Lead Vox} >` over TCP, and on the older UHF-R
 * `* REPORT 1 CHAN_NAME Lead_Vox *`. Source: Shure's command string documents for ULX-D, QLX-D, SLX-D, Axient Digital,
 * PSM 1000 and MXW.
 */

export type Frame =
  /** `channel` is null for a property of the device as a whole. */
  | { readonly type: 'property'; readonly channel: number | null; readonly key: string; readonly value: string }
  /** Metered values of a channel. */
  | { readonly type: 'sample'; readonly channel: number; readonly value: string }
  /** The device does not support a command. The frame does not name the command. */
  | { readonly type: 'refused' }

/** Longer than any valid frame. A longer unfinished frame is discarded. */
const maxFrameChars = 4096

/** A `>` within braces is part of a name. */
const angleFrame = /<([^<>{}]*(?:\{[^}]*\}[^<>{}]*)?)>/g

/**
 * Splits received text into its complete frames and the rest. Frames follow each other without line breaks and may
 * arrive in parts. Text between frames is ignored.
 */
export function splitAngleFrames(text: string): { messages: string[]; rest: string } {
  const { messages, end } = text.includes('{') ? findBracedFrames(text) : findPlainFrames(text)
  const start = text.indexOf('<', end)
  const rest = start < 0 ? '' : text.slice(start)
  return { messages, rest: rest.length > maxFrameChars ? '' : rest }
}

/** The frames in a text, and the offset at which the last one ends. */
interface FoundFrames {
  readonly messages: string[]
  readonly end: number
}

function findBracedFrames(text: string): FoundFrames {
  const messages: string[] = []
  let end = 0
  angleFrame.lastIndex = 0
  for (let match = angleFrame.exec(text); match !== null; match = angleFrame.exec(text)) {
    messages.push(match[1] ?? '')
    end = angleFrame.lastIndex
  }
  return { messages, end }
}

/** A faster version of `findBracedFrames` for text without opening braces, such as meter values. */
function findPlainFrames(text: string): FoundFrames {
  const messages: string[] = []
  let end = 0
  for (let close = text.indexOf('>'); close >= 0; close = text.indexOf('>', close + 1)) {
    const open = text.lastIndexOf('<', close)
    const inner = text.slice(open + 1, close)
    if (open < end || inner.includes('}')) continue
    messages.push(inner)
    end = close + 1
  }
  return { messages, end }
}

export function splitStarFrames(datagram: string): string[] {
  return [...datagram.matchAll(/\*([^*]*)\*/g)].map(([, inner = '']) => inner)
}

const shape = /^\s*(REP|REPORT|REPLY|SAMPLE)\s+(?:(?:(PRI|SEC|CH|BAY)\s+)?(\d{1,2})\s+)?(\S+)\s*(.*?)\s*$/s
/** These prefixes mean the same as no prefix: the primary microphone, a channel. */
const redundantPrefix = /^(?:PRI|CH)$/
/** For these keys, the first field after the key is an index: a slot, an antenna or a network interface. */
const indexedKeys = /^(?:(?:SLOT_|LINK_).*|RSSI|RSSI_LED_BITMAP|NET_SETTINGS)$/

/** Parses the content of a frame. Returns null if it is malformed. */
export function parseFrame(inner: string): Frame | null {
  const match = shape.exec(inner)
  if (match === null) return null
  const [, verb, prefix = 'PRI', number, name = '', value = ''] = match
  const channel = number === undefined ? null : Number(number)
  const key = redundantPrefix.test(prefix) ? name : `${prefix} ${name}`
  if (verb === 'SAMPLE') return readSampleFrame(channel, key, value)
  if (name === 'ERR' || name === 'ERROR') return { type: 'refused' }
  const [, index, rest] = (indexedKeys.test(key) && /^(\S+)\s+(.*)$/s.exec(value)) || []
  if (index === undefined) return { type: 'property', channel, key, value: unwrap(value) }
  return { type: 'property', channel, key: `${key} ${index}`, value: unwrap(rest ?? '') }
}

/** Reads `SAMPLE n ALL …`. MXW omits `ALL`, and its first value takes the place of the key. */
function readSampleFrame(channel: number | null, key: string, value: string): Frame | null {
  if (channel === null) return null
  if (key === 'ALL') return { type: 'sample', channel, value }
  const [, prefix, first] = /^(SEC )?(\d{3})$/.exec(key) ?? []
  if (first === undefined) return null
  const sample = `${first} ${value}`
  // The meter values of a secondary microphone are a property of the channel, because they are rarely used.
  return prefix === undefined
    ? { type: 'sample', channel, value: sample }
    : { type: 'property', channel, key: 'SEC SAMPLE', value: sample }
}

/** Removes the braces around a text and its padding. */
function unwrap(value: string): string {
  return /^\{.*\}$/s.test(value) ? value.slice(1, -1).trim() : value
}
