/** The messages about each slot: to OSC targets and subscribers, and to the scribble strips of consoles. */

import type { AlertBody } from '../../contract/alerts.ts'
import { type Condition, unmonitoredCondition } from '../conditions/condition.ts'
import { type Channel, isChannelMuted } from '../equipment/receiver.ts'
import type { Placeholder } from '../equipment/slots.ts'
import type { OscMessage } from './packet.ts'

export interface OscSlot {
  readonly slot: number
  readonly name: string
  readonly condition: Pick<Condition, 'state' | 'severity' | 'attention'>
  readonly battery: number | null
  readonly minutes: number | null
  readonly rf: number | null
  readonly audio: number | null
  readonly isMuted: boolean
}

export function toOscSlot(channel: Channel, title: string | null): OscSlot {
  const { slot, transmitter, condition, forecast } = channel
  return {
    slot,
    name: title ?? '',
    condition,
    battery: transmitter?.battery ?? null,
    minutes: transmitter === null ? null : (forecast?.minutes_left ?? null),
    rf: transmitter?.rf_level ?? channel.rf_level,
    audio: transmitter?.audio_level ?? channel.audio_level,
    isMuted: transmitter !== null && isChannelMuted(channel),
  }
}

export function placeholderToOscSlot({ slot, created_at }: Placeholder, title: string | null): OscSlot {
  const unknown = { battery: null, minutes: null, rf: null, audio: null }
  return { slot, name: title ?? '', condition: unmonitoredCondition(created_at), ...unknown, isMuted: false }
}

const valueNames = ['name', 'state', 'attention', 'battery', 'minutes', 'rf', 'audio', 'muted'] as const

/** The values of a slot, in the order of `valueNames`. An unknown number is null. */
type SlotValues = readonly (string | number | null)[]

function toSlotValues({ name, condition, battery, minutes, rf, audio, isMuted }: OscSlot): SlotValues {
  return [name, condition.state, condition.attention ? 1 : 0, battery, minutes, rf, audio, isMuted ? 1 : 0]
}

/** Returns the messages about a slot, without unknown numbers, and without values that are the same in `before`. */
export function toSlotMessages(slot: OscSlot, before: OscSlot | null = null): OscMessage[] {
  const isOther = before?.slot !== slot.slot
  const known = before === null || isOther ? [] : toSlotValues(before)
  const messages: OscMessage[] = []
  for (const [index, value] of toSlotValues(slot).entries()) {
    if (value === null || value === known[index]) continue
    const argument = typeof value === 'string' ? toAscii(value) : Math.round(value)
    messages.push({ address: `/micwatch/ch/${slot.slot}/${valueNames[index]}`, args: [argument] })
  }
  return messages
}
/** Returns null unless the alert was raised or cleared. */
export function toAlertOscMessage({ id, state, message, silenced }: AlertBody): OscMessage | null {
  const args = [String(id), toAscii(message)]
  if (state === 'cleared') return { address: '/micwatch/alert/cleared', args }
  return state === 'raised' && !silenced ? { address: '/micwatch/alert/raised', args } : null
}

export type ConsoleType = 'x32' | 'wing'

type StripColor = 'off' | 'green' | 'yellow' | 'red' | 'blue' | 'white'

interface Console {
  readonly port: number
  readonly channels: number
  readonly nameLength: number
  readonly colors: Readonly<Record<StripColor, number>>
  channelAddress(channel: number): { readonly name: string; readonly color: string }
}

export const consoles: Readonly<Record<ConsoleType, Console>> = {
  x32: {
    port: 10_023,
    channels: 32,
    nameLength: 12,
    colors: { off: 0, red: 1, green: 2, yellow: 3, blue: 4, white: 7 },
    channelAddress(channel) {
      const config = `/ch/${String(channel).padStart(2, '0')}/config`
      return { name: `${config}/name`, color: `${config}/color` }
    },
  },
  wing: {
    port: 2223,
    channels: 40,
    nameLength: 16,
    // A WING has neither black nor white: gray blue and mauve.
    colors: { off: 1, blue: 3, green: 5, yellow: 7, red: 9, white: 12 },
    channelAddress: (channel) => ({ name: `/ch/${channel}/name`, color: `/ch/${channel}/col` }),
  },
}

/** Returns the name and color of the console's channel that shows a slot. */
export function toStripMessages(type: ConsoleType, channel: number, slot: OscSlot): OscMessage[] {
  const { nameLength, colors, channelAddress } = consoles[type]
  const address = channelAddress(channel)
  return [
    { address: address.name, args: [toAscii(slot.name).slice(0, nameLength)] },
    { address: address.color, args: [colors[stripColor(slot)]] },
  ]
}

function stripColor({ condition, isMuted }: OscSlot): StripColor {
  if (condition.severity === 'critical') return 'red'
  if (condition.severity === 'warning') return 'yellow'
  if (condition.state === 'tx_off' || condition.state === 'charging') return 'off'
  if (condition.state === 'unmonitored') return 'white'
  return isMuted ? 'blue' : 'green'
}

const replacements: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  đ: 'd',
  Đ: 'D',
  ð: 'd',
  Ð: 'D',
  ł: 'l',
  Ł: 'L',
  þ: 'th',
  Þ: 'Th',
  ı: 'i',
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '–': '-',
  '—': '-',
  '−': '-',
  '€': 'EUR',
}

/** Transliterates letters with accents. Other characters become question marks, and control characters spaces. */
export function toAscii(text: string): string {
  return Array.from(text.normalize('NFKD').replace(/\p{Mark}/gu, ''), (character) => {
    if (character >= ' ' && character <= '~') return character
    return replacements[character] ?? (/\p{Control}/u.test(character) ? ' ' : '?')
  }).join('')
}

export class SentValues {
  readonly #sent = new Map<string, OscMessage['args'][number] | undefined>()
  readonly #ticksPerRefresh: number
  #tick = 0

  /** Every message is repeated after this number of ticks. */
  constructor(ticksPerRefresh: number) {
    this.#ticksPerRefresh = ticksPerRefresh
  }

  /** Returns the messages for this tick; each has one argument. The repetitions are spread over the ticks. */
  next(current: readonly OscMessage[]): OscMessage[] {
    this.#tick = (this.#tick + 1) % this.#ticksPerRefresh
    const due = current.filter(({ address, args: [value] }, index) => {
      const isChanged = this.#sent.get(address) !== value
      this.#sent.set(address, value)
      return isChanged || index % this.#ticksPerRefresh === this.#tick
    })
    if (this.#sent.size > current.length) this.#forgetOthers(current)
    return due
  }

  #forgetOthers(current: readonly OscMessage[]): void {
    const addresses = new Set(current.map(({ address }) => address))
    for (const address of this.#sent.keys()) if (!addresses.has(address)) this.#sent.delete(address)
  }
}
