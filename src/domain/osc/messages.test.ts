import { describe, expect, it } from 'vitest'
import { buildAlert } from '../../../test/support/builders.ts'
import { unknownCondition } from '../conditions/condition.ts'
import { emptyChannel } from '../equipment/receiver.ts'
import { parseCommand } from './packet.ts'
import {
  type OscSlot,
  placeholderToOscSlot,
  SentValues,
  toAlertOscMessage,
  toAscii,
  toOscSlot,
  toSlotMessages,
  toStripMessages,
} from './slot-messages.ts'

const condition = { ...unknownCondition, state: 'battery_low', severity: 'warning', attention: true } as const
const transmitter = {
  upstream_slot: null,
  name: 'Zoë Łuk',
  battery: 18,
  audio_level: -20,
  rf_level: -61,
  frequency: '540.000',
  details: { muted: true },
}
const forecast = { minutes_left: 47, source: 'device', low: 47, high: 47 } as const
const channel = { ...emptyChannel(11, 1, 7), name: 'CH 1', rf_level: -90, transmitter, condition, forecast }
const slot = toOscSlot(channel, 'Zoë Łuk')

function valuesOf(messages: readonly { address: string; args: readonly unknown[] }[]) {
  return Object.fromEntries(messages.map(({ address, args }) => [address, args[0]]))
}

describe('toSlotMessages', () => {
  // Conformance: C-16.33.
  it('sends the values of a slot, with names in ASCII', () => {
    expect(valuesOf(toSlotMessages(slot))).toEqual({
      '/micwatch/ch/7/name': 'Zoe Luk',
      '/micwatch/ch/7/state': 'battery_low',
      '/micwatch/ch/7/attention': 1,
      '/micwatch/ch/7/battery': 18,
      '/micwatch/ch/7/minutes': 47,
      '/micwatch/ch/7/rf': -61,
      '/micwatch/ch/7/audio': -20,
      '/micwatch/ch/7/muted': 1,
    })
  })

  // Conformance: C-16.34.
  it('does not send unknown numbers', () => {
    expect(
      valuesOf(toSlotMessages(toOscSlot({ ...channel, transmitter: null, forecast: null, rf_level: null }, 'CH 1'))),
    ).toEqual({
      '/micwatch/ch/7/name': 'CH 1',
      '/micwatch/ch/7/state': 'battery_low',
      '/micwatch/ch/7/attention': 1,
      '/micwatch/ch/7/muted': 0,
    })
  })

  it('includes placeholders', () => {
    const placeholder = { id: 1, slot: 9, kind: 'equipment', created_at: 0 } as never
    expect(valuesOf(toSlotMessages(placeholderToOscSlot(placeholder, 'Pulpit')))).toMatchObject({
      '/micwatch/ch/9/name': 'Pulpit',
      '/micwatch/ch/9/state': 'unmonitored',
    })
  })
})

// Conformance: C-16.34.
it('toAscii transliterates, and replaces what it cannot', () => {
  expect(toAscii('Jürgen Størm – Æon “ß” ½ ミ\n💥')).toBe('Jurgen Storm - AEon "ss" 1?2 ? ?')
})

// Conformance: C-16.35.
it('toAlertOscMessage has the id as text, and nothing for other changes and silenced alerts', () => {
  const alert = buildAlert({ id: 4, message: 'Battery of Zoë low' })
  expect(toAlertOscMessage(alert)).toEqual({ address: '/micwatch/alert/raised', args: ['4', 'Battery of Zoe low'] })
  expect(toAlertOscMessage({ ...alert, state: 'cleared' })).toMatchObject({ address: '/micwatch/alert/cleared' })
  expect(toAlertOscMessage({ ...alert, state: 'acknowledged' })).toBeNull()
  expect(toAlertOscMessage({ ...alert, silenced: true })).toBeNull()
})

describe('toStripMessages', () => {
  const strip = (type: 'x32' | 'wing', fields: Partial<OscSlot>) =>
    toStripMessages(type, 3, { ...slot, ...fields }).map(({ address, args }) => [address, args[0]])
  const named = { name: 'Zoë with a long name' }
  const severity = (value: 'ok' | 'critical') => ({ condition: { ...condition, severity: value } })

  // Conformance: C-16.36.
  it('writes names and colors of X32 and WING', () => {
    expect(strip('x32', named)).toEqual([
      ['/ch/03/config/name', 'Zoe with a l'],
      ['/ch/03/config/color', 3],
    ])
    expect(strip('wing', named)).toEqual([
      ['/ch/3/name', 'Zoe with a long '],
      ['/ch/3/col', 7],
    ])
  })

  // Conformance: C-16.36.
  it('chooses the color by state', () => {
    const color = (fields: Partial<OscSlot>) => strip('x32', fields)[1]?.[1]
    expect(color(severity('critical'))).toBe(1)
    expect(color({ ...severity('ok'), isMuted: true })).toBe(4)
    expect(color({ ...severity('ok'), isMuted: false })).toBe(2)
    expect(color({ condition: { state: 'tx_off', severity: 'info', attention: false } })).toBe(0)
    expect(color({ condition: { state: 'unmonitored', severity: 'ok', attention: false } })).toBe(7)
  })
})

// Conformance: C-16.37.
it('SentValues returns changes at once, and everything once in a while', () => {
  const messages = (value: number) =>
    [0, 1, 2].map((index) => ({ address: `/${index}`, args: [index === 1 ? value : 0] }))
  const sent = new SentValues(5)
  expect(sent.next(messages(1))).toHaveLength(3)
  expect(sent.next(messages(2)).map(({ address }) => address)).toContain('/1')
  const repeated = Array.from({ length: 5 }, () => sent.next(messages(2))).flat()
  expect(repeated.map(({ address }) => address).sort()).toEqual(['/0', '/1', '/2'])
  sent.next([])
  expect(sent.next(messages(2))).toHaveLength(3)
})

describe('parseCommand', () => {
  const parse = (address: string, ...args: (string | number | boolean | null)[]) => parseCommand({ address, args })

  // Conformance: C-16.38.
  it('reads the commands', () => {
    expect(parse('/micwatch/subscribe')).toEqual({ type: 'subscribe', isOn: true })
    expect(parse('/micwatch/subscribe', 0)).toEqual({ type: 'subscribe', isOn: false })
    expect(parse('/micwatch/marker', 'Act\n2')).toEqual({ type: 'marker', text: 'Act 2' })
    expect(parse('/micwatch/show/start', 'Gala')).toEqual({ type: 'start_show', show: 'Gala' })
    expect(parse('/micwatch/show/end', 3)).toEqual({ type: 'end_show', show: '3' })
    expect(parse('/micwatch/show/end')).toEqual({ type: 'end_show', show: null })
    expect(parse('/micwatch/alert/12/ack', 1)).toEqual({ type: 'acknowledge', alert: 12 })
  })

  // Conformance: C-16.38.
  it('cuts a marker at 500 characters', () => {
    expect(parse('/micwatch/marker', 'é'.repeat(600))).toEqual({ type: 'marker', text: 'é'.repeat(500) })
  })

  it('ignores released buttons and other addresses, and rejects a marker without text', () => {
    expect(parse('/micwatch/alert/12/ack', 0)).toBe('unknown')
    expect(parse('/micwatch/alert/x/ack')).toBe('unknown')
    expect(parse('/cue/1/start')).toBe('unknown')
    expect(parse('/micwatch/marker', 5)).toBe('malformed')
    expect(parse('/micwatch/marker', ' \n')).toBe('malformed')
  })
})
