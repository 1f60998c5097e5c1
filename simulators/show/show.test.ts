import { describe, expect, it } from 'vitest'
import { timeLimit } from '../../test/support/time-limit.ts'
import { createShow, type DeviceState, type Show } from './show.ts'

const minutes = 60_000

describe('the default show', () => {
  const show = createShow({ seed: 1 })
  const start = show.devicesAt(0)

  it('has 24 receivers of two manufacturers, some channels without a transmitter', () => {
    expect(start.filter(({ device }) => device.manufacturer === 'shure')).toHaveLength(13)
    expect(start.filter(({ device }) => device.manufacturer === 'sennheiser')).toHaveLength(11)
    const channels = start.flatMap((state) => state.channels)
    expect(channels.length).toBeGreaterThanOrEqual(60)
    const transmitting = channels.filter((channel) => channel.transmitter !== null)
    expect(transmitting.length).toBeGreaterThan(50)
    expect(transmitting.length).toBeLessThan(channels.length)
  })

  it('gives every device a unique identity', () => {
    for (const field of ['id', 'name', 'serial_number', 'mac_address', 'ip'] as const) {
      const values = start.map(({ device }) => `${device.manufacturer} ${device[field]}`)
      expect(new Set(values).size, field).toBe(values.length)
    }
    for (const { device } of start) {
      expect(device.mac_address).toMatch(/^([0-9A-F]{2}:){5}[0-9A-F]{2}$/)
      expect(device.ip).toMatch(/^10\.\d+\.\d+\.\d+$/)
    }
  })

  it('gives every channel a unique name and a unique UHF frequency', () => {
    const channels = start.flatMap((state) => state.channels)
    expect(new Set(channels.map((channel) => channel.name)).size).toBe(channels.length)
    expect(new Set(channels.map((channel) => channel.frequency)).size).toBe(channels.length)
    for (const { frequency } of channels) {
      expect(frequency).toMatch(/^\d{3}\.\d{3}$/)
      expect(Number(frequency)).toBeGreaterThan(470)
      expect(Number(frequency)).toBeLessThan(608)
    }
  })

  it('keeps levels within range for an hour', () => {
    const batteries = new Map<string, number>()
    const rf: number[] = []
    const audio: number[] = []
    const wrong: string[] = []
    for (let timeMs = 0; timeMs < 60 * minutes; timeMs += 700) {
      for (const { device, channels } of show.devicesAt(timeMs)) {
        for (const channel of channels) {
          const { transmitter } = channel
          const key = `${device.id}/${channel.channel}`
          if (transmitter === null) {
            batteries.delete(key) // The battery may have been replaced, so the level may be higher afterwards.
            continue
          }
          const { battery, rf_level, audio_level } = transmitter
          if (battery > (batteries.get(key) ?? 100)) wrong.push(`${key} rises to ${battery} at ${timeMs}`)
          batteries.set(key, battery)
          if (battery < 0 || ![battery, rf_level, audio_level].every(Number.isInteger))
            wrong.push(`${key} at ${timeMs}`)
          rf.push(rf_level)
          audio.push(audio_level)
        }
      }
    }
    expect(wrong).toEqual([])
    expect(rf.every((level) => level >= -110 && level <= -20)).toBe(true)
    expect(audio.every((level) => level >= -120 && level <= 0)).toBe(true)
    // Levels vary: fades and dropouts, pauses and peaks.
    expect(Math.min(...new Set(rf))).toBeLessThan(-95)
    expect(Math.max(...new Set(rf))).toBeGreaterThan(-45)
    expect(audio.filter((level) => level > -12).length).toBeGreaterThan(audio.length / 100)
    expect(audio.filter((level) => level < -60).length).toBeGreaterThan(audio.length / 10)
  })

  it('has one battery that is low and then critical within ten minutes', () => {
    const lowest = (at: number) =>
      Math.min(
        ...show.devicesAt(at).flatMap(({ channels }) => channels.map(({ transmitter }) => transmitter?.battery ?? 100)),
      )
    expect(lowest(0)).toBeGreaterThan(20)
    expect(lowest(3 * minutes)).toBeLessThanOrEqual(20)
    expect(lowest(9 * minutes)).toBeLessThanOrEqual(10)
  })
})

describe('a seed', () => {
  const times = [0, 1234, 44_999, 100_000, 3_600_000]
  const snapshot = (show: Show, order: readonly number[]) =>
    new Map(order.map((at): [number, readonly DeviceState[]] => [at, show.devicesAt(at)]))

  it('gives the same values at the same time in any order of calls', () => {
    const forwards = snapshot(createShow({ seed: 7 }), times)
    const backwards = snapshot(createShow({ seed: 7 }), times.toReversed())
    for (const at of times) expect(backwards.get(at)).toEqual(forwards.get(at))
  })

  it('gives different values for another seed', () => {
    expect(createShow({ seed: 8 }).devicesAt(1234)).not.toEqual(createShow({ seed: 7 }).devicesAt(1234))
  })
})

describe('the story', () => {
  const show = createShow({ seed: 3 })
  const event = (type: string) => show.story.find((event) => event.type === type) as (typeof show.story)[number]

  it('moves a device to another address after 45 s', () => {
    const { id } = event('moved')
    const [before, after] = [show.deviceAt(44_999, id)?.device, show.deviceAt(45_000, id)?.device]
    expect(after?.ip).not.toBe(before?.ip)
    expect({ ...after, ip: null }).toEqual({ ...before, ip: null })
  })

  it('adds a device with an address in use after 75 s', () => {
    const { id } = event('appeared')
    expect(show.deviceAt(74_999, id)).toBeUndefined()
    const stranger = show.deviceAt(75_000, id)?.device
    const holder = show.devicesAt(75_000).find(({ device }) => device.ip === stranger?.ip && device.id !== id)?.device
    expect(holder?.manufacturer).toBe(stranger?.manufacturer)
    expect(holder?.serial_number).not.toBe(stranger?.serial_number)
    expect(holder?.mac_address).not.toBe(stranger?.mac_address)
  })

  it('takes a device off the network after 60 s and back after 180 s', () => {
    const { id } = event('offline')
    expect([59_999, 60_000, 179_999, 180_000].map((at) => show.deviceAt(at, id)?.online)).toEqual([
      true,
      false,
      false,
      true,
    ])
    expect(show.deviceAt(60_000, id)?.channels.every((channel) => channel.transmitter === null)).toBe(true)
  })

  it('switches a transmitter off and on', () => {
    const off = event('transmitter_off')
    const number = off.type === 'transmitter_off' ? off.channel : 0
    const isTransmitting = (at: number) => show.deviceAt(at, off.id)?.channels[number - 1]?.transmitter != null
    expect([89_999, 90_000, 149_999, 150_000].map(isTransmitting)).toEqual([true, false, false, true])
  })

  it('can be disabled', () => {
    expect(createShow({ story: false }).story).toEqual([])
  })
})

describe('manual changes', () => {
  it('override the story until they are removed', () => {
    const show = createShow({ seed: 3 })
    const moved = show.story.find(({ type }) => type === 'moved')?.id ?? ''
    show.set(moved, { ip: '10.9.9.9', name: 'Renamed', online: false })
    expect(show.deviceAt(60_000, moved)).toMatchObject({ online: false, device: { ip: '10.9.9.9', name: 'Renamed' } })
    show.set(moved, { online: true })
    show.set(moved, { battery: 5, rf_level: -99, audio_level: -3, name: 'Solo' }, 1)
    const solo = { name: 'Solo', battery: 5, rf_level: -99, audio_level: -3 }
    expect(show.deviceAt(60_000, moved)?.channels[0]).toMatchObject({ name: 'Solo', rf_level: -99, transmitter: solo })
    show.set(moved, { transmitter: false }, 1)
    expect(show.deviceAt(60_000, moved)?.channels[0]?.transmitter).toBeNull()
    show.unset(moved)
    expect(show.deviceAt(60_000, moved)).toEqual(createShow({ seed: 3 }).deviceAt(60_000, moved))
  })

  it('add and remove devices', () => {
    const show = createShow({ manufacturers: { shure: 2 } })
    const id = show.add('shure', { serial_number: 'X1', channels: 1 })
    expect(show.deviceAt(0, id)).toMatchObject({ device: { serial_number: 'X1' }, channels: [{ channel: 1 }] })
    expect(show.countAt(0, 'shure')).toBe(3)
    show.remove(id)
    expect(show.countAt(0)).toBe(2)
    expect(() => show.set('missing', { name: 'x' })).toThrow('no device missing')
  })
})

it('has no device in common with a show whose numbers begin after its own', () => {
  const identities = (firstNumber: number) => {
    const show = createShow({ manufacturers: { shure: 300 }, story: false, firstNumber })
    show.add('shure')
    return show.devicesAt(0).flatMap(({ device }) => [device.id, device.serial_number, device.mac_address, device.ip])
  }
  const both = [...identities(1), ...identities(302)]
  expect(new Set(both).size).toBe(both.length)
})

it('computes a thousand receivers of four channels in under 10 ms', () => {
  const show = createShow({ manufacturers: { shure: 1000 }, channelsPerReceiver: 4, story: false })
  const durations = Array.from({ length: 20 }, (_, at) => {
    const startedAt = performance.now()
    expect(show.devicesAt(at * 1000)).toHaveLength(1000)
    return performance.now() - startedAt
  })
  // Only the fastest run must be this fast, because other tests run on the same machine.
  expect(Math.min(...durations)).toBeLessThan(timeLimit(10))
})
