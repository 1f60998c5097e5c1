/**
 * The envelope of Shure command strings: `< REP 1 CHAN_NAME {Lead Vox} >` over TCP, `* REPORT 1 CHAN_NAME Lead_Vox *` on
 * the older UHF-R. Source: Shure's command string documents for ULX-D, QLX-D, SLX-D, Axient Digital and PSM 1000.
 */

export type Frame =
  /** A property; `channel` is null for one of the device as a whole. */
  | { readonly type: 'property'; readonly channel: number | null; readonly key: string; readonly value: string }
  /** Metered values of a channel. */
  | { readonly type: 'sample'; readonly channel: number; readonly value: string }
  /** A command the device does not know; it does not say which. */
  | { readonly type: 'refused' }

/** A frame is shorter; what does not end by then never will. */
const maxFrameChars = 4096

/** A `>` within braces is part of a name. */
const angleFrame = /<([^<>{}]*(?:\{[^}]*\}[^<>{}]*)?)>/g

/** Frames follow each other without line breaks, and one may be cut anywhere. What stands between them means nothing. */
export function cutAngles(text: string): { messages: string[]; rest: string } {
  const messages: string[] = []
  let end = 0
  for (const found of text.matchAll(angleFrame)) {
    messages.push(found[1] ?? '')
    end = found.index + found[0].length
  }
  const start = text.indexOf('<', end)
  const rest = start < 0 ? '' : text.slice(start)
  return { messages, rest: rest.length > maxFrameChars ? '' : rest }
}

/** All frames of one datagram. */
export function cutStars(datagram: string): string[] {
  return [...datagram.matchAll(/\*([^*]*)\*/g)].map(([, inner = '']) => inner)
}

const shape = /^\s*(REP|REPORT|REPLY|SAMPLE)\s+(?:(\d{1,2})\s+)?(\S+)\s*(.*?)\s*$/s
/** Their first word after the key is part of it: a slot, an antenna, a network interface. */
const indexed = /^(?:(?:SLOT_|LINK_).*|RSSI|RSSI_LED_BITMAP|NET_SETTINGS)$/

/** What stands in a frame; null where it makes no sense. */
export function parseFrame(inner: string): Frame | null {
  const found = shape.exec(inner)
  if (found === null) return null
  const [, verb, number, key = '', value = ''] = found
  const channel = number === undefined ? null : Number(number)
  if (verb === 'SAMPLE') return channel === null || key !== 'ALL' ? null : { type: 'sample', channel, value }
  if (key === 'ERR') return { type: 'refused' }
  const [, index, rest] = (indexed.test(key) && /^(\S+)\s+(.*)$/s.exec(value)) || []
  if (index === undefined) return { type: 'property', channel, key, value: bare(value) }
  return { type: 'property', channel, key: `${key} ${index}`, value: bare(rest ?? '') }
}

/** Texts stand in braces, filled up with blanks. */
function bare(value: string): string {
  return /^\{.*\}$/s.test(value) ? value.slice(1, -1).trim() : value
}
