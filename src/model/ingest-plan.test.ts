import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChannelDetails } from './details.ts'
import { applyUpdate, createIngestPlan, isStructural, planChanges, toUnchanged } from './ingest-plan.ts'
import { type DeviceReport, emptyChannel, type Receiver, type TransmitterReading } from './receiver.ts'
import { createKnownReceivers } from './reconcile.ts'

const at = 1_000_000

function seen(id: string, fields: Partial<DeviceReport> = {}): DeviceReport {
  return { id, kind: 'receiver', name: id, model_name: 'ULXD4Q', device_type: 'ulxd', online: true, ...fields }
}

/** Takes batches in as the service does, in memory. */
function createHouse() {
  const known = createKnownReceivers()
  let lastId = 0
  let lastChannel = 0
  return {
    known,
    take(observations: readonly DeviceReport[], manufacturer = 'shure') {
      const plan = planChanges(known, manufacturer, observations, at)
      for (const { draft, readings } of plan.creations) {
        lastId += 1
        const channels = [...new Set(readings.map((one) => one.channel))].map((number) => {
          lastChannel += 1
          return emptyChannel(lastChannel, number, lastChannel)
        })
        known.put(applyUpdate({ ...draft, id: lastId, channels }, { fields: {}, readings }))
      }
      for (const update of plan.updates)
        known.put(applyUpdate(known.get(update.receiver.id) ?? update.receiver, update))
      return plan
    },
    receivers: (): Receiver[] => [...known.receivers()],
  }
}

describe('a batch', () => {
  // Conformance: S-3.2.
  test('makes newcomers with everything that was told', () => {
    const house = createHouse()
    const channels = [{ channel: 1, frequency: '540.000', transmitter: { battery: 80 } }]
    house.take([seen('a', { serial_number: 'S1', ip: '10.0.0.1', gateway: '10.0.0.254', channels })])
    expect(house.receivers()).toMatchObject([
      {
        id: 1,
        manufacturer: 'shure',
        api_device_id: 'a',
        model: 'ULXD4Q',
        serial_number: 'S1',
        ip: '10.0.0.1',
        gateway: '10.0.0.254',
        is_active: true,
        last_seen: at,
        channels: [{ channel: 1, frequency: '540.000', transmitter: { battery: 80, rf_level: null } }],
      },
    ])
  })

  test('two receivers that swap their addresses are two moves', () => {
    const house = createHouse()
    house.take([seen('a', { serial_number: 'S1', ip: '10.0.0.1' }), seen('b', { serial_number: 'S2', ip: '10.0.0.2' })])
    const { moves } = house.take([
      seen('a', { serial_number: 'S1', ip: '10.0.0.2' }),
      seen('b', { serial_number: 'S2', ip: '10.0.0.1' }),
    ])
    expect(moves.map(({ receiver, old_ip, new_ip }) => [receiver.id, old_ip, new_ip])).toEqual([
      [1, '10.0.0.1', '10.0.0.2'],
      [2, '10.0.0.2', '10.0.0.1'],
    ])
  })

  test('the same device twice counts once', () => {
    const house = createHouse()
    const { creations, repeated } = house.take([
      seen('a', { serial_number: 'S1', ip: '10.0.0.1' }),
      seen('a', { serial_number: 'S1', ip: '10.0.0.2' }),
      seen('b', { serial_number: 's1 ', ip: '10.0.0.3' }),
    ])
    expect([creations.length, repeated]).toEqual([1, 2])
  })

  test('two newcomers at one address: the second waits for review, beside the first', () => {
    const { creations, queued } = createHouse().take([
      seen('a', { serial_number: 'S1', ip: '10.0.0.1' }),
      seen('b', { serial_number: 'S2', ip: '10.0.0.1' }),
    ])
    expect(creations).toHaveLength(1)
    expect(queued).toMatchObject([{ conflict_type: 'ip_conflict', identity_key: 'serial:s2', existing: { id: -1 } }])
  })

  // Conformance: C-2.10.
  test('a transmitter never becomes a receiver', () => {
    expect(createHouse().take([seen('t', { kind: 'transmitter' })]).creations).toEqual([])
  })

  test('details are told field by field; the same again is no news', () => {
    const house = createHouse()
    const tell = (transmitter: TransmitterReading | null, details?: ChannelDetails) =>
      house.take([seen('a', { ip: '10.0.0.1', channels: [{ channel: 1, transmitter, details }] })])
    tell({ details: { model: 'AD2' } }, { rf_a: -60 })
    tell({ details: { battery_minutes: 90 } }, { muted: true, rf_a: null })
    expect(house.receivers()[0]?.channels).toMatchObject([
      { details: { rf_a: null, muted: true }, transmitter: { details: { model: 'AD2', battery_minutes: 90 } } },
    ])
    expect(tell({ details: { battery_minutes: 90 } }, { muted: true }).updates).toMatchObject([{ isNews: false }])
    tell(null)
    expect(house.receivers()[0]?.channels).toMatchObject([{ transmitter: null, details: { muted: true } }])
  })

  test('a missing identity is filled in, a held one is not taken', () => {
    const house = createHouse()
    house.take([seen('a', { ip: '10.0.0.1' }), seen('b', { serial_number: 'S2', mac_address: '00:0E:DD:00:00:02' })])
    house.take([seen('a', { ip: '10.0.0.1', serial_number: 'S1' })])
    expect(house.receivers()[0]).toMatchObject({ serial_number: 'S1', mac_address: null })
    house.take([seen('a', { serial_number: 'S1', mac_address: '00:0E:DD:00:00:02' })])
    expect(house.receivers()[0]).toMatchObject({ serial_number: 'S1', mac_address: null })
    house.take([seen('a', { serial_number: 'S1', mac_address: '00:0E:DD:00:00:01' })])
    expect(house.receivers()[0]).toMatchObject({ serial_number: 'S1', mac_address: '00:0E:DD:00:00:01' })
  })

  test('an API id that passes to another receiver is taken from the first', () => {
    const house = createHouse()
    house.take([seen('a', { serial_number: 'S1', ip: '10.0.0.1' }), seen('b', { serial_number: 'S2', ip: '10.0.0.2' })])
    house.take([seen('a', { serial_number: 'S2', ip: '10.0.0.2' })])
    expect(house.receivers().map((one) => one.api_device_id)).toEqual([null, 'a'])
  })

  test('what is not told overwrites nothing', () => {
    const house = createHouse()
    const channels = [{ channel: 1, name: 'Lead', transmitter: { battery: 80, rf_level: -50 } }]
    house.take([seen('a', { serial_number: 'S1', description: 'Rack 1', channels })])
    house.take([{ id: 'a', kind: 'receiver', channels: [{ channel: 1, transmitter: { rf_level: -60 } }] }])
    expect(house.receivers()[0]).toMatchObject({
      description: 'Rack 1',
      channels: [{ name: 'Lead', transmitter: { battery: 80, rf_level: -60 } }],
    })
  })

  test('a device called offline by its system is not heard; one heard again is active at once', () => {
    const house = createHouse()
    house.take([seen('a', { serial_number: 'S1', online: false })])
    expect(house.receivers()[0]?.is_active).toBe(false)
    house.take([seen('a', { serial_number: 'S1' })])
    expect(house.receivers()[0]?.is_active).toBe(true)
  })

  test('levels are news but no structure; the same again is neither', () => {
    const house = createHouse()
    const told = (battery: number) => [seen('a', { channels: [{ channel: 1, transmitter: { battery } }] })]
    house.take(told(80))
    const [changed] = planChanges(house.known, 'shure', told(79), at).updates
    const [same] = planChanges(house.known, 'shure', told(80), at).updates
    expect(changed && [changed.hasChanges, isStructural(changed)]).toEqual([true, false])
    expect(same && [same.hasChanges, isStructural(same)]).toEqual([false, false])
  })
})

describe('the same observation again', () => {
  const channels = [{ channel: 1, transmitter: { battery: 80 } }]
  const one = seen('a', { serial_number: 'S1', ip: '10.0.0.1', channels })
  const two = seen('b', { serial_number: 'S2', ip: '10.0.0.2' })

  /** Known, and settled: planned once with nothing new. */
  function createSettledHouse() {
    const house = createHouse()
    house.take([one, two])
    const { updates, identityRevision } = house.take([one, two])
    const remembered = new Map(
      updates.map(({ report: told, receiver }) => [
        told,
        toUnchanged(told as DeviceReport, receiver, identityRevision),
      ]),
    )
    const plan = (observations: readonly DeviceReport[]) => {
      const intake = createIngestPlan({ known: house.known, manufacturer: 'shure', at: at + 1, unchanged: remembered })
      for (const report of observations) intake.add(report)
      return intake.plan
    }
    return { ...house, plan }
  }

  test('is known to say nothing new', () => {
    const { plan } = createSettledHouse()
    const { unchanged, updates, duplicates } = plan([one, two])
    expect([unchanged.map(({ receiver }) => receiver.id), updates, duplicates]).toEqual([[1, 2], [], 2])
  })

  test.each<[string, (house: ReturnType<typeof createHouse>) => void]>([
    ['its receiver reads something else', ({ known }) => known.put({ ...(known.get(1) as Receiver), channels: [] })],
    ['who is who has changed', ({ take }) => void take([seen('c', { serial_number: 'S3', ip: '10.0.0.3' })])],
    ['its receiver is gone', ({ known }) => known.remove(1)],
  ])('is judged anew when %s', (_, change) => {
    const house = createSettledHouse()
    change(house)
    expect(house.plan([one]).unchanged).toEqual([])
  })

  test('is judged anew behind a newcomer of the same batch', () => {
    const { plan } = createSettledHouse()
    const { unchanged, creations } = plan([seen('c', { serial_number: 'S3', ip: '10.0.0.3' }), one])
    expect([unchanged.length, creations.length]).toEqual([0, 1])
  })

  test('counts once, under whatever id it is told a second time', () => {
    const { plan } = createSettledHouse()
    const twin = seen('z', { serial_number: 's1', ip: '10.0.0.9' })
    expect(plan([one, twin])).toMatchObject({ repeated: 1, moves: [], again: { length: 1 } })
    expect(plan([twin, one])).toMatchObject({ repeated: 1, moves: { length: 1 }, again: { length: 0 } })
  })
})

describe('whatever is told', () => {
  const serials = ['S1', 'S2', 'S3', 'S4']
  const device = fc.record({
    serial: fc.constantFrom(...serials),
    ip: fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5'),
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    mac: fc.constantFrom(null, '00:0E:DD:00:00:01', '00:0E:DD:00:00:02'),
  })
  const toSeen = (one: { serial: string; ip: string; id: string; mac: string | null }) =>
    seen(one.id, { serial_number: one.serial, ip: one.ip, mac_address: one.mac })

  test('no serial, MAC or API id is ever held by two receivers of one manufacturer, and nothing goes away', () => {
    fc.assert(
      fc.property(fc.array(fc.array(device, { maxLength: 5 }), { maxLength: 8 }), (polls) => {
        const house = createHouse()
        let before = 0
        for (const poll of polls) {
          house.take(poll.map(toSeen))
          const receivers = house.receivers()
          for (const field of ['serial_number', 'mac_address', 'api_device_id'] as const) {
            const held = receivers.map((one) => one[field]).filter((value) => value !== null)
            expect(new Set(held).size).toBe(held.length)
          }
          expect(receivers.length).toBeGreaterThanOrEqual(before)
          before = receivers.length
        }
      }),
    )
  })

  test('devices free of conflicts end as the same receivers in any order', () => {
    const house = fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 10 })
    fc.assert(
      fc.property(house, fc.array(fc.nat(9), { maxLength: 10 }), (numbers, shuffle) => {
        const devices = numbers.map((n) => seen(`id-${n}`, { serial_number: `S${n}`, ip: `10.0.0.${n}` }))
        const ordered = createHouse()
        ordered.take(devices)
        const mixed = createHouse()
        const moved = [...devices]
        for (const [at, by] of shuffle.entries()) {
          const [one] = moved.splice(at % moved.length, 1)
          if (one !== undefined) moved.splice(by % (moved.length + 1), 0, one)
        }
        for (const one of [...moved, ...moved]) mixed.take([one])
        const shape = (all: Receiver[]) =>
          all.map(({ serial_number, ip, api_device_id }) => `${serial_number} ${ip} ${api_device_id}`).sort()
        expect(shape(mixed.receivers())).toEqual(shape(ordered.receivers()))
      }),
    )
  })
})
