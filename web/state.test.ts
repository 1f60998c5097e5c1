import { describe, expect, it } from 'vitest'
import type { ChannelBody, DataBody, TransmitterBody } from '../src/model/api.ts'
import { apply, applyAll, emptyHouse, type House, type HouseEvent } from './state.ts'

const start = 1_000_000

function transmitter(told: Partial<TransmitterBody> = {}): TransmitterBody {
  const known = { slot: 1, upstream_slot: null, name: 'H04 Maria', frequency: '540.000' }
  return { ...known, battery: 80, audio_level: -20, rf_level: -50, ...told }
}

function channel(told: Partial<TransmitterBody> | null = {}, id = 11): ChannelBody {
  const known = { id, channel: 1, slot: id, name: 'Vocal', frequency: '540.000', audio_level: null, rf_level: null }
  return { ...known, transmitter: told === null ? null : transmitter(told) }
}

function data(...channels: ChannelBody[]): DataBody {
  const receiver = { id: 1, name: 'Rack A', device_type: 'ad', ip: '10.0.0.5', model: 'AD4Q', manufacturer: 'shure' }
  return {
    receivers: [{ ...receiver, is_active: true, last_seen: '2026-11-20T20:00:00Z', channels }],
    discovered: [],
    config: { polling_interval: 10, alert_battery_threshold: 20, enable_websocket: true },
    groups: [],
  }
}

function update(at: number, told: Partial<TransmitterBody> | null, receiverId = 1): HouseEvent {
  const body = { receiver_id: receiverId, manufacturer: 'shure', data: { channels: [channel(told)] } }
  return { type: 'message', message: { type: 'device_update', ...body }, at }
}

const opened: HouseEvent = { type: 'link', client: 'open', at: start }
const asked: HouseEvent = { type: 'picture_asked', at: start }
const picture = (at: number, told: Partial<TransmitterBody> | null = {}): HouseEvent => ({
  type: 'picture',
  data: data(channel(told)),
  at,
})
const lost = (at: number): HouseEvent => ({ type: 'link', client: 'lost', nextTryAt: at + 1_000, at })

function live(): House {
  return applyAll(emptyHouse(start), [opened, asked, picture(start)])
}

const shown = (runtime: House) => runtime.receivers.get(1)?.channels[0]
const battery = (runtime: House) => shown(runtime)?.transmitter?.battery

describe('the full picture and the updates around it', () => {
  it('is fresh once the picture has come over an open link', () => {
    expect(applyAll(emptyHouse(start), [opened, asked]).isFresh).toBe(false)
    expect(live()).toMatchObject({ isFresh: true, phase: 'ready' })
  })

  it('keeps groups that were changed here while the picture was on its way, until the next one', () => {
    const groups = [{ id: 1, title: 'Band', slots: [1], hide_charts: false, manufacturer: null }]
    const runtime = applyAll(live(), [asked, { type: 'groups', groups, at: start + 1 }, picture(start + 2)])
    expect(runtime.groups).toEqual(groups)
    expect(applyAll(runtime, [asked, picture(start + 3)]).groups).toEqual([])
  })

  it('puts updates that came while the picture was on its way onto it', () => {
    const runtime = applyAll(emptyHouse(start), [
      opened,
      asked,
      update(start + 1, { battery: 44 }),
      picture(start + 2, { battery: 45 }),
    ])
    expect(battery(runtime)).toBe(44)
  })

  it('after a gap shows no update before the fresh picture has come', () => {
    const gap = applyAll(live(), [lost(start + 10), { ...opened, at: start + 20 }, { ...asked, at: start + 21 }])
    const early = apply(gap, update(start + 22, { battery: 44 }))
    expect(battery(early)).toBe(80)
    expect(early.isFresh).toBe(false)
    const whole = apply(early, picture(start + 23, { battery: 45 }))
    expect(battery(whole)).toBe(44)
    expect(whole.isFresh).toBe(true)
  })

  it('does not take a picture for fresh that was asked for before the link came back', () => {
    const runtime = applyAll(live(), [lost(start + 10), { ...asked, at: start + 11 }, { ...opened, at: start + 12 }])
    expect(apply(runtime, picture(start + 13)).isFresh).toBe(false)
  })

  it('goes on showing updates while an unbroken picture is read again', () => {
    const runtime = applyAll(live(), [{ ...asked, at: start + 5 }, update(start + 6, { battery: 44 })])
    expect(battery(runtime)).toBe(44)
    expect(battery(apply(runtime, picture(start + 7, { battery: 45 })))).toBe(44)
  })

  it('asks for a picture when an update speaks of a receiver nobody knows', () => {
    expect(apply(live(), update(start + 1, {}, 99)).needsPicture).toBe(true)
    expect(applyAll(live(), [update(start + 1, {}, 99), asked]).needsPicture).toBe(false)
  })

  it('forgets receivers that are not in the picture any more', () => {
    const runtime = applyAll(live(), [asked, { type: 'picture', data: { ...data(), receivers: [] }, at: start + 5 }])
    expect(runtime.receivers.size).toBe(0)
  })

  it('applies a batch as it applies one after the other', () => {
    const events = [update(start + 1, { battery: 70 }), lost(start + 2), update(start + 3, { battery: 60 })]
    expect(applyAll(live(), events)).toEqual(events.reduce(apply, live()))
  })

  it('leaves the house before untouched', () => {
    const before = live()
    apply(before, update(start + 1, { battery: 1 }))
    expect(battery(before)).toBe(80)
  })
})

describe('failures', () => {
  const problem = { kind: 'unreachable', detail: 'No answer.' } as const

  it('fails where nothing was ever shown, and keeps what is shown otherwise', () => {
    const failed: HouseEvent = { type: 'picture_failed', problem, at: start }
    expect(apply(emptyHouse(start), failed)).toMatchObject({ phase: 'failed', problem })
    expect(apply(live(), failed)).toMatchObject({ phase: 'ready', problem })
  })

  it('shows nothing any more to somebody who is no longer signed in', () => {
    const failed: HouseEvent = { type: 'picture_failed', problem: { ...problem, kind: 'sign_in' }, at: start }
    expect(apply(live(), failed).phase).toBe('failed')
  })
})

describe('what is remembered of a channel', () => {
  it('keeps the last battery and the time when the transmitter goes', () => {
    const gone = applyAll(live(), [update(start + 1, { battery: 8 }), update(start + 2, null)])
    expect(shown(gone)).toMatchObject({ transmitter: null, lastBattery: 8, lastName: 'H04 Maria', leftAt: start + 2 })
    expect(shown(apply(gone, update(start + 9, null)))?.leftAt).toBe(start + 2)
    expect(shown(apply(gone, update(start + 9, {})))?.leftAt).toBe(null)
  })

  it('does not date a transmitter that went during a gap to the end of the gap', () => {
    const events = [lost(start + 3_000), opened, asked, picture(start + 60_000, null)]
    expect(shown(applyAll(live(), events))?.leftAt).toBe(start)
  })

  it('remembers the last moment of an overload until it is cleared', () => {
    const over = applyAll(live(), [update(start + 1, { audio_level: -1 }), update(start + 5_000, { audio_level: -9 })])
    expect(shown(over)?.clippedAt).toBe(start + 5_000)
    const cleared = apply(over, { type: 'overload_cleared', receiverId: 1, channelId: 11, at: start + 6_000 })
    expect(shown(cleared)?.clippedAt).toBe(null)
  })
})

describe('clocks', () => {
  it('learns the difference from an answer to a ping', () => {
    const timestamp = new Date(start + 90_000).toISOString()
    const runtime = apply(live(), { type: 'message', message: { type: 'pong', timestamp }, at: start })
    expect(runtime.clockAheadMs).toBe(90_000)
    expect(runtime.heardAt).toBe(start)
  })
})
