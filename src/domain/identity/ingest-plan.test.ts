import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChannelDetails } from '../../contract/channels.ts'
import { type DeviceReport, emptyChannel, type Receiver, type TransmitterReading } from '../equipment/receiver.ts'
import { hasOnlyLevels, type LevelSample } from '../levels/level-sample.ts'
import { applyUpdate, IngestPlanBuilder, isStructural, type ReceiverAtRead } from './ingest-plan.ts'
import { createKnownReceivers, type KnownReceivers } from './reconcile.ts'

const at = 1_000_000

function report(id: string, fields: Partial<DeviceReport> = {}): DeviceReport {
  return { id, kind: 'receiver', name: id, model_name: 'ULXD4Q', device_type: 'ulxd', online: true, ...fields }
}

function planChanges(known: KnownReceivers, manufacturer: string, reports: readonly DeviceReport[], time: number) {
  const builder = new IngestPlanBuilder({ known, manufacturer, at: time })
  for (const report of reports) builder.add(report)
  return builder.plan
}

/** Plans and applies batches in memory, as the service does. */
function createIngest() {
  const known = createKnownReceivers()
  let lastId = 0
  let lastChannel = 0
  return {
    known,
    ingest(reports: readonly DeviceReport[], manufacturer = 'shure') {
      const plan = planChanges(known, manufacturer, reports, at)
      for (const { draft, readings } of plan.creations) {
        lastId += 1
        const channels = [...new Set(readings.map((reading) => reading.channel))].map((number) => {
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

describe('IngestPlanBuilder', () => {
  // Conformance: S-3.2.
  test('creates new receivers with all reported values', () => {
    const ingest = createIngest()
    const channels = [{ channel: 1, frequency: '540.000', transmitter: { battery: 80 } }]
    ingest.ingest([report('a', { serial_number: 'S1', ip: '10.0.0.1', gateway: '10.0.0.254', channels })])
    expect(ingest.receivers()).toMatchObject([
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

  test('plans two moves for two receivers that swap addresses', () => {
    const ingest = createIngest()
    ingest.ingest([
      report('a', { serial_number: 'S1', ip: '10.0.0.1' }),
      report('b', { serial_number: 'S2', ip: '10.0.0.2' }),
    ])
    const { moves } = ingest.ingest([
      report('a', { serial_number: 'S1', ip: '10.0.0.2' }),
      report('b', { serial_number: 'S2', ip: '10.0.0.1' }),
    ])
    expect(moves.map(({ receiver, old_ip, new_ip }) => [receiver.id, old_ip, new_ip])).toEqual([
      [1, '10.0.0.1', '10.0.0.2'],
      [2, '10.0.0.2', '10.0.0.1'],
    ])
  })

  test('counts a device that is reported twice only once', () => {
    const ingest = createIngest()
    const { creations, repeated } = ingest.ingest([
      report('a', { serial_number: 'S1', ip: '10.0.0.1' }),
      report('a', { serial_number: 'S1', ip: '10.0.0.2' }),
      report('b', { serial_number: 's1 ', ip: '10.0.0.3' }),
    ])
    expect([creations.length, repeated]).toEqual([1, 2])
  })

  test('queues the second of two new devices at one address, in conflict with the first', () => {
    const { creations, queued } = createIngest().ingest([
      report('a', { serial_number: 'S1', ip: '10.0.0.1' }),
      report('b', { serial_number: 'S2', ip: '10.0.0.1' }),
    ])
    expect(creations).toHaveLength(1)
    expect(queued).toMatchObject([{ conflict_type: 'ip_conflict', identity_key: 'serial:s2', existing: { id: -1 } }])
  })

  test('never creates a receiver from a report that only confirms one, whose id has changed since', () => {
    const { ingest, receivers } = createIngest()
    ingest([report('older:1', { serial_number: '8008' })])
    ingest([report('newer:1', { serial_number: '8008' })])
    const plan = ingest([{ id: 'older:1', kind: 'receiver', isConfirmation: true }])
    expect([plan.creations, plan.queued, plan.updates]).toEqual([[], [], []])
    expect(ingest([{ id: 'newer:1', kind: 'receiver', isConfirmation: true }]).duplicates).toBe(1)
    expect(receivers().map(({ api_device_id }) => api_device_id)).toEqual(['newer:1'])
  })

  // Conformance: C-2.10.
  test('never creates a receiver from a transmitter', () => {
    expect(createIngest().ingest([report('t', { kind: 'transmitter' })]).creations).toEqual([])
  })

  test('adds a missing identity, but not one that another receiver has', () => {
    const ingest = createIngest()
    ingest.ingest([
      report('a', { ip: '10.0.0.1' }),
      report('b', { serial_number: 'S2', mac_address: '00:0E:DD:00:00:02' }),
    ])
    ingest.ingest([report('a', { ip: '10.0.0.1', serial_number: 'S1' })])
    expect(ingest.receivers()[0]).toMatchObject({ serial_number: 'S1', mac_address: null })
    ingest.ingest([report('a', { serial_number: 'S1', mac_address: '00:0E:DD:00:00:02' })])
    expect(ingest.receivers()[0]).toMatchObject({ serial_number: 'S1', mac_address: null })
    ingest.ingest([report('a', { serial_number: 'S1', mac_address: '00:0E:DD:00:00:01' })])
    expect(ingest.receivers()[0]).toMatchObject({ serial_number: 'S1', mac_address: '00:0E:DD:00:00:01' })
  })

  test('removes an API id from the previous receiver when another one reports it', () => {
    const ingest = createIngest()
    ingest.ingest([
      report('a', { serial_number: 'S1', ip: '10.0.0.1' }),
      report('b', { serial_number: 'S2', ip: '10.0.0.2' }),
    ])
    ingest.ingest([report('a', { serial_number: 'S2', ip: '10.0.0.2' })])
    expect(ingest.receivers().map(({ api_device_id }) => api_device_id)).toEqual([null, 'a'])
  })
})

describe('IngestPlanBuilder for reported values', () => {
  test('merges details field by field and reports no change for equal values', () => {
    const ingest = createIngest()
    const ingestDetails = (transmitter: TransmitterReading | null, details?: ChannelDetails) =>
      ingest.ingest([report('a', { ip: '10.0.0.1', channels: [{ channel: 1, transmitter, details }] })])
    ingestDetails({ details: { model: 'AD2' } }, { rf_a: -60 })
    ingestDetails({ details: { battery_minutes: 90 } }, { muted: true, rf_a: null })
    expect(ingest.receivers()[0]?.channels).toMatchObject([
      { details: { rf_a: null, muted: true }, transmitter: { details: { model: 'AD2', battery_minutes: 90 } } },
    ])
    expect(ingestDetails({ details: { battery_minutes: 90 } }, { muted: true }).updates).toMatchObject([
      { hasChanges: false },
    ])
    ingestDetails(null)
    expect(ingest.receivers()[0]?.channels).toMatchObject([{ transmitter: null, details: { muted: true } }])
  })

  test('reports a change of the slots of a channel, and no change for an equal list', () => {
    const ingest = createIngest()
    const ingestSlots = (...batteries: readonly number[]) => {
      const slots = batteries.map(
        (battery, index) => ({ slot: index + 1, status: 'active', on_air: false, battery }) as const,
      )
      return ingest.ingest([{ id: 'a', kind: 'receiver', channels: [{ channel: 1, details: { slots } }] }])
    }
    ingest.ingest([report('a', { ip: '10.0.0.1', channels: [{ channel: 1 }] })])
    ingestSlots(80, 60)
    const known = ingest.receivers()[0]?.channels[0]
    expect(ingestSlots(80, 60).updates).toMatchObject([{ hasChanges: false }])
    expect(ingest.receivers()[0]?.channels[0]?.details?.slots).toBe(known?.details?.slots)
    ingestSlots(80, 59)
    expect(ingest.receivers()[0]?.channels[0]?.details?.slots?.[1]).toMatchObject({ battery: 59 })
    ingestSlots()
    expect(ingest.receivers()[0]?.channels[0]?.details?.slots).toEqual([])
  })

  test('keeps the values of fields that are not reported', () => {
    const ingest = createIngest()
    const channels = [{ channel: 1, name: 'Lead', transmitter: { battery: 80, rf_level: -50 } }]
    ingest.ingest([report('a', { serial_number: 'S1', description: 'Rack 1', channels })])
    ingest.ingest([{ id: 'a', kind: 'receiver', channels: [{ channel: 1, transmitter: { rf_level: -60 } }] }])
    expect(ingest.receivers()[0]).toMatchObject({
      description: 'Rack 1',
      channels: [{ name: 'Lead', transmitter: { battery: 80, rf_level: -60 } }],
    })
  })

  test('creates an offline device as an inactive receiver, and sets it active when it is online', () => {
    const ingest = createIngest()
    ingest.ingest([report('a', { serial_number: 'S1', online: false })])
    expect(ingest.receivers()[0]?.is_active).toBe(false)
    ingest.ingest([report('a', { serial_number: 'S1' })])
    expect(ingest.receivers()[0]?.is_active).toBe(true)
  })

  test('plans a non-structural change for new levels, and none for equal levels', () => {
    const ingest = createIngest()
    const reportsWith = (battery: number) => [report('a', { channels: [{ channel: 1, transmitter: { battery } }] })]
    ingest.ingest(reportsWith(80))
    const [changed] = planChanges(ingest.known, 'shure', reportsWith(79), at).updates
    const [same] = planChanges(ingest.known, 'shure', reportsWith(80), at).updates
    expect(changed && [changed.hasChanges, isStructural(changed)]).toEqual([true, false])
    expect(same && [same.hasChanges, isStructural(same)]).toEqual([false, false])
  })
})

describe('a report without news except levels', () => {
  const channels = [{ channel: 1, rf_level: -60, transmitter: { battery: 80 } }]
  const first = report('a', { serial_number: 'S1', ip: '10.0.0.1', channels })
  const second = report('b', { serial_number: 'S2', ip: '10.0.0.2' })

  /** Creates both receivers. Returns a function that plans reports of them. */
  function createKnownIngest() {
    const ingest = createIngest()
    ingest.ingest([first, second])
    const findLevelReceiver = (manufacturer: string, reported: DeviceReport) => {
      const receiver = ingest.known.byApiId(manufacturer, reported.id)
      return receiver !== undefined && hasOnlyLevels(receiver, reported) ? receiver : undefined
    }
    const plan = (
      reports: readonly DeviceReport[],
      levels?: readonly LevelSample[],
      receiverAtRead?: ReceiverAtRead,
    ) => {
      const ingestPlan = new IngestPlanBuilder({
        known: ingest.known,
        manufacturer: 'shure',
        at: at + 1,
        findLevelReceiver,
      })
      for (const reported of reports) ingestPlan.add(reported, { receiverAtRead }, levels)
      return ingestPlan.plan
    }
    return { ...ingest, plan }
  }

  test('is listed as a level report without an update', () => {
    const louder = { ...first, channels: [{ channel: 1, rf_level: -50, transmitter: { battery: 80 } }] }
    const { levelReports, updates, duplicates } = createKnownIngest().plan([louder, second])
    const listed = levelReports.map(({ receiver, readings }) => [receiver.id, readings])
    expect([listed, updates, duplicates]).toEqual([
      [
        [1, louder.channels],
        [2, []],
      ],
      [],
      2,
    ])
  })

  test('contains only levels if it also lists the known slots, and is reconciled if it lists other ones', () => {
    const { ingest, plan } = createKnownIngest()
    const withSlot = (battery: number) => ({
      ...first,
      channels: [{ channel: 1, details: { slots: [{ slot: 2, status: 'active', on_air: false, battery } as const] } }],
    })
    ingest([withSlot(80)])
    expect(plan([withSlot(80)])).toMatchObject({ levelReports: { length: 1 }, updates: [] })
    expect(plan([withSlot(79)])).toMatchObject({ levelReports: [], updates: [{ hasChanges: true }] })
  })

  test('takes newer levels that are passed with the report', () => {
    const levels = [{ channel: 1, rf_level: -40, transmitter: { audio_level: -20 } }]
    const { plan } = createKnownIngest()
    expect(plan([first], levels).levelReports).toMatchObject([{ readings: levels }])
    const [update] = plan([{ ...first, name: 'B' }], levels).updates
    expect(update?.readings).toEqual([{ channel: 1, rf_level: -40, transmitter: { battery: 80, audio_level: -20 } }])
  })

  test('keeps what was pushed since it was requested, and applies everything else', () => {
    const { ingest, known, plan } = createKnownIngest()
    const before = known.get(1)
    ingest([{ ...first, channels: [{ channel: 1, rf_level: -60, transmitter: { battery: 15 } }] }])
    const read = [{ channel: 1, rf_level: -50, transmitter: { battery: 80 } }]
    const [update] = plan([{ ...first, channels: read }], undefined, () => before).updates
    expect(update?.readings).toEqual([{ channel: 1, rf_level: -50, transmitter: {} }])
    expect(update?.channels).toMatchObject([{ rf_level: -50, transmitter: { battery: 15 } }])
  })

  test('keeps a fault that was pushed since it was requested', () => {
    const { ingest, known, plan } = createKnownIngest()
    const before = known.get(1)
    ingest([{ ...first, details: { fault: 'too_hot' } }])
    const read = { ...first, details: { fault: null } }
    expect(plan([read], undefined, () => before).updates.map(({ fields }) => fields.details)).toEqual([undefined])
    expect(plan([read], undefined, () => known.get(1)).updates.map(({ fields }) => fields.details)).toEqual([{}])
  })

  test.each<[string, Partial<DeviceReport>]>([
    ['a new channel', { channels: [{ channel: 2, rf_level: -60 }] }],
    ['another battery', { channels: [{ channel: 1, transmitter: { battery: 79 } }] }],
    ['a transmitter that is gone', { channels: [{ channel: 1, transmitter: null }] }],
    ['another detail', { channels: [{ channel: 1, details: { muted: true } }] }],
    ['another address', { ip: '10.0.0.3' }],
    ['another name', { name: 'B' }],
    ['a device that is offline', { online: false }],
    ['a fault', { details: { fault: 'too_hot' } }],
  ])('is reconciled if it contains %s', (_, change) => {
    const { levelReports, updates, moves } = createKnownIngest().plan([{ ...first, ...change }])
    expect([levelReports, updates.length + moves.length > 0]).toEqual([[], true])
  })

  test('is reconciled after the receiver was removed', () => {
    const { known, plan } = createKnownIngest()
    known.remove(1)
    expect(plan([first])).toMatchObject({ levelReports: [], creations: { length: 1 } })
  })

  test('is reconciled after a new device in the same batch', () => {
    const { levelReports, creations } = createKnownIngest().plan([
      report('c', { serial_number: 'S3', ip: '10.0.0.3' }),
      first,
    ])
    expect([levelReports.length, creations.length]).toEqual([0, 1])
  })

  test('counts once when the device is reported again under another id', () => {
    const { plan } = createKnownIngest()
    const twin = report('z', { serial_number: 's1', ip: '10.0.0.9' })
    expect(plan([first, twin])).toMatchObject({ repeated: 1, moves: [], levelReports: { length: 1 } })
    expect(plan([twin, first])).toMatchObject({ repeated: 1, moves: { length: 1 }, levelReports: { length: 0 } })
    expect(plan([first, first])).toMatchObject({ repeated: 1, levelReports: { length: 1 } })
  })
})

describe('IngestPlanBuilder with arbitrary reports', () => {
  const serials = ['S1', 'S2', 'S3', 'S4']
  const device = fc.record({
    serial: fc.constantFrom(...serials),
    ip: fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5'),
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    mac: fc.constantFrom(null, '00:0E:DD:00:00:01', '00:0E:DD:00:00:02'),
  })
  const toReport = ({ serial, ip, id, mac }: { serial: string; ip: string; id: string; mac: string | null }) =>
    report(id, { serial_number: serial, ip, mac_address: mac })

  test('never gives a serial, MAC or API id to two receivers of one manufacturer, and never removes a receiver', () => {
    fc.assert(
      fc.property(fc.array(fc.array(device, { maxLength: 5 }), { maxLength: 8 }), (polls) => {
        const ingest = createIngest()
        let before = 0
        for (const poll of polls) {
          ingest.ingest(poll.map(toReport))
          const receivers = ingest.receivers()
          for (const field of ['serial_number', 'mac_address', 'api_device_id'] as const) {
            const values = receivers.map((receiver) => receiver[field]).filter((value) => value !== null)
            expect(new Set(values).size).toBe(values.length)
          }
          expect(receivers.length).toBeGreaterThanOrEqual(before)
          before = receivers.length
        }
      }),
    )
  })

  test('creates the same receivers in any order if there are no conflicts', () => {
    const deviceNumbers = fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 10 })
    fc.assert(
      fc.property(deviceNumbers, fc.array(fc.nat(9), { maxLength: 10 }), (numbers, shuffle) => {
        const devices = numbers.map((n) => report(`id-${n}`, { serial_number: `S${n}`, ip: `10.0.0.${n}` }))
        const ordered = createIngest()
        ordered.ingest(devices)
        const mixed = createIngest()
        const shuffled = [...devices]
        for (const [index, offset] of shuffle.entries()) {
          const [device] = shuffled.splice(index % shuffled.length, 1)
          if (device !== undefined) shuffled.splice(offset % (shuffled.length + 1), 0, device)
        }
        for (const device of [...shuffled, ...shuffled]) mixed.ingest([device])
        const shape = (all: Receiver[]) =>
          all.map(({ serial_number, ip, api_device_id }) => `${serial_number} ${ip} ${api_device_id}`).sort()
        expect(shape(mixed.receivers())).toEqual(shape(ordered.receivers()))
      }),
    )
  })
})

// Conformance: C-24.41.
test.each([
  ['keeps its address while another source reaches it there', true, '10.0.0.1', 0],
  ['moves once its address no longer answers', false, '192.168.9.1', 1],
])('a receiver that reports at another port %s', (_, isReached, ip, moves) => {
  const control = report('a', { serial_number: 'S1', ip: '10.0.0.1' })
  const { ingest, known } = createIngest()
  ingest([control])
  const asked: (string | undefined)[] = []
  const isReachedElsewhere = (_: Receiver, source: string | undefined) => {
    asked.push(source)
    return isReached
  }
  const builder = new IngestPlanBuilder({ known, manufacturer: 'shure', at: at + 1, isReachedElsewhere })
  builder.add({ ...control, name: 'Rack', ip: '192.168.9.1' }, { source: 'dante' })
  const { plan } = builder
  expect([plan.moves.length, plan.creations.length, asked]).toEqual([moves, 0, ['dante']])
  const [update] = plan.updates
  expect({ ip: '10.0.0.1', ...update?.fields }).toMatchObject({ ip, name: 'Rack' })
})
