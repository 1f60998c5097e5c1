import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildQueueEntry, buildReceiver } from '../../../test/support/builders.ts'
import type { QueueEntry } from '../equipment/discovery.ts'
import type { DeviceReport, Receiver } from '../equipment/receiver.ts'
import { createKnownReceivers, identityKey, ipKey, macKey, type Outcome, reconcile, serialKey } from './reconcile.ts'

function report(fields: Partial<DeviceReport>): DeviceReport {
  return { id: 'api-9', kind: 'receiver', ...fields }
}

/** Formats an outcome as `duplicate 1`, `moved 1 10.0.0.1>10.0.0.2`, `ip_conflict 1` … */
function format(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'new':
      return 'new'
    case 'duplicate':
      return `duplicate ${outcome.receiver.id}`
    case 'moved':
      return `moved ${outcome.receiver.id} ${outcome.old_ip}>${outcome.new_ip}`
    case 'conflict':
      return `${outcome.conflict_type} ${outcome.existing.id}`
    case 'excluded':
      return `excluded ${outcome.entry.status}`
    default:
      return outcome satisfies never
  }
}

function matchAgainst(known: readonly Receiver[], device: DeviceReport, entries: readonly QueueEntry[] = []): string {
  const index = createKnownReceivers()
  for (const receiver of known) index.put(receiver)
  for (const entry of entries) index.putEntry(entry)
  return format(reconcile(index, 'shure', device))
}

const A = buildReceiver(1, { serial_number: 'S1', mac_address: '00:0E:DD:00:00:01', ip: '10.0.0.1' })
const B = buildReceiver(2, { serial_number: 'S2', mac_address: '00:0E:DD:00:00:02', ip: '10.0.0.2' })
const bare = buildReceiver(3, { ip: '10.0.0.3' })
const foreign = buildReceiver(4, {
  manufacturer: 'sennheiser',
  serial_number: 'S4',
  mac_address: '00:1B:66:00:00:04',
  ip: '10.0.0.4',
})

describe('reconcile, in the cases that the interface specification defines', () => {
  // Conformance: S-3.1, S-3.4.
  test.each<[string, Partial<DeviceReport>, string]>([
    ['nothing matches', { serial_number: 'S9', mac_address: '00:0E:DD:00:00:09', ip: '10.0.0.9' }, 'new'],
    ['serial, same IP', { serial_number: 'S1', ip: '10.0.0.1' }, 'duplicate 1'],
    ['MAC, same IP', { mac_address: '00:0E:DD:00:00:01', ip: '10.0.0.1' }, 'duplicate 1'],
    ['API id, same IP', { id: 'api-3', ip: '10.0.0.3' }, 'duplicate 3'],
    ['serial, other IP', { serial_number: 'S1', ip: '10.0.0.8' }, 'moved 1 10.0.0.1>10.0.0.8'],
    ['MAC, other IP', { mac_address: '00:0E:DD:00:00:01', ip: '10.0.0.8' }, 'moved 1 10.0.0.1>10.0.0.8'],
    [
      'IP, but serial and MAC differ',
      { serial_number: 'S9', mac_address: '00:0E:DD:00:00:09', ip: '10.0.0.1' },
      'ip_conflict 1',
    ],
    ['serial of another manufacturer', { serial_number: 'S4', ip: '10.0.0.9' }, 'manufacturer_mismatch 4'],
  ])('%s', (_name, fields, expected) => {
    expect(matchAgainst([A, B, bare, foreign], report(fields))).toBe(expected)
  })
})

describe('reconcile, in all other cases', () => {
  // Conformance: C-4.4, C-4.5, C-4.8, C-4.9.
  test.each<[string, Partial<DeviceReport>, string]>([
    ['serials are compared trimmed and in lower case', { serial_number: ' s1 ', ip: '10.0.0.1' }, 'duplicate 1'],
    ['MAC addresses are compared by their digits', { mac_address: '000edd-000001', ip: '10.0.0.1' }, 'duplicate 1'],
    [
      'an all-zero identity never matches',
      { serial_number: '0000000000', mac_address: '00:00:00:00:00:00', ip: '0.0.0.0' },
      'new',
    ],
    ['IP, and the known receiver has no identity', { serial_number: 'S9', ip: '10.0.0.3' }, 'duplicate 3'],
    ['IP, and the report has no identity', { ip: '10.0.0.1' }, 'duplicate 1'],
    ['IP, only the serial differs', { serial_number: 'S9', ip: '10.0.0.1' }, 'ip_conflict 1'],
    ['IP, only the MAC differs', { mac_address: '00:0E:DD:00:00:09', ip: '10.0.0.1' }, 'ip_conflict 1'],
    ['API id, other IP, no differing identity', { id: 'api-3', ip: '10.0.0.8' }, 'moved 3 10.0.0.3>10.0.0.8'],
    ['API id, IP not reported', { id: 'api-1' }, 'duplicate 1'],
    [
      'API id, but another serial: replaced hardware',
      { id: 'api-1', serial_number: 'S9', ip: '10.0.0.8' },
      'hardware_changed 1',
    ],
    ['API id, but another MAC', { id: 'api-1', mac_address: '00:0E:DD:00:00:09' }, 'hardware_changed 1'],
    ['MAC of another manufacturer', { mac_address: '00:1B:66:00:00:04' }, 'manufacturer_mismatch 4'],
    ['IP of another manufacturer', { serial_number: 'S9', ip: '10.0.0.4' }, 'ip_conflict 4'],
    ['IP of another manufacturer, known by API id: never moved', { id: 'api-3', ip: '10.0.0.4' }, 'ip_conflict 4'],
    [
      'serial takes precedence over another receiver at the new IP',
      { serial_number: 'S1', ip: '10.0.0.2' },
      'moved 1 10.0.0.1>10.0.0.2',
    ],
    [
      'serial takes precedence over another manufacturer at the new IP',
      { serial_number: 'S1', ip: '10.0.0.4' },
      'moved 1 10.0.0.1>10.0.0.4',
    ],
    [
      'serial takes precedence over MAC',
      { serial_number: 'S1', mac_address: '00:0E:DD:00:00:02', ip: '10.0.0.1' },
      'duplicate 1',
    ],
  ])('%s', (_name, fields, expected) => {
    expect(matchAgainst([A, B, bare, foreign], report(fields))).toBe(expected)
  })

  test('matches the receiver with the same identity if two share an address after a review', () => {
    const twin = buildReceiver(5, { serial_number: 'S5', ip: '10.0.0.1' })
    expect(matchAgainst([A, twin], report({ id: 'x', serial_number: 'S5', ip: '10.0.0.1' }))).toBe('duplicate 5')
  })

  test.each<[QueueEntry['status'], string]>([
    ['pending', 'ip_conflict 1'],
    ['rejected', 'excluded rejected'],
    ['duplicate', 'excluded duplicate'],
  ])('handles a conflict whose entry is %s', (status, expected) => {
    const conflicting = report({ serial_number: 'S9', ip: '10.0.0.1' })
    expect(matchAgainst([A], conflicting, [buildQueueEntry({ status })])).toBe(expected)
  })

  test('excludes a rejected device even if there is no conflict any more', () => {
    expect(
      matchAgainst([], report({ serial_number: 'S9', ip: '10.0.0.7' }), [buildQueueEntry({ status: 'rejected' })]),
    ).toBe('excluded rejected')
  })
})

// Conformance: C-4.1.
test('normalizes keys', () => {
  expect([serialKey(' AbC '), serialKey(''), serialKey('000-000'), serialKey(null)]).toEqual(['abc', null, null, null])
  expect([
    macKey('00:0e:DD:00:00:01'),
    macKey('000EDD000001'),
    macKey('00:0e:dd'),
    macKey('00:00:00:00:00:00'),
  ]).toEqual(['000edd000001', '000edd000001', null, null])
  expect([ipKey('10.0.0.1'), ipKey('0.0.0.0'), ipKey('')]).toEqual(['10.0.0.1', null, null])
  expect(identityKey({ id: 'x', serial_number: ' S1', mac_address: null })).toBe('serial:s1')
  expect(identityKey({ id: 'x', mac_address: '00:0e:dd:00:00:01' })).toBe('mac:000edd000001')
  expect(identityKey({ id: 'x' })).toBe('id:x')
})

describe('createKnownReceivers', () => {
  test('removes the old address of a replaced receiver', () => {
    const index = createKnownReceivers()
    index.put(A)
    index.put({ ...A, ip: '10.0.0.9' })
    expect(index.byIp('10.0.0.1')).toEqual([])
    expect(index.byIp('10.0.0.9')).toHaveLength(1)
  })

  test('hides receivers of the base with the same id', () => {
    const base = createKnownReceivers()
    base.put(A)
    const overlay = createKnownReceivers(base)
    overlay.put({ ...A, ip: '10.0.0.9', api_device_id: null })
    expect(overlay.byIp('10.0.0.1')).toEqual([])
    expect(overlay.byApiId('shure', 'api-1')).toBeUndefined()
    expect(overlay.bySerial('s1').map(({ ip }) => ip)).toEqual(['10.0.0.9'])
    expect(base.byIp('10.0.0.1')).toHaveLength(1)
  })

  // Conformance: S-3.1.
  test('finds the same receivers as a linear search, in any order of insertion', () => {
    const fields = fc.record({
      id: fc.integer({ min: 1, max: 6 }),
      serial_number: fc.constantFrom(null, 'S1', 'S2', 'S3'),
      ip: fc.constantFrom(null, '10.0.0.1', '10.0.0.2'),
    })
    fc.assert(
      fc.property(fc.array(fields, { maxLength: 20 }), fc.nat(20), (puts, split) => {
        const base = createKnownReceivers()
        const overlay = createKnownReceivers(base)
        const expectedById = new Map<number, Receiver>()
        for (const [index, fields] of puts.entries()) {
          const added = buildReceiver(fields.id, fields)
          expectedById.set(added.id, added)
          ;(index < split ? base : overlay).put(added)
        }
        for (const serial of ['s1', 's2', 's3']) {
          const expected = [...expectedById.values()].filter(({ serial_number }) => serialKey(serial_number) === serial)
          expect(new Set(overlay.bySerial(serial))).toEqual(new Set(expected))
        }
      }),
    )
  })
})
