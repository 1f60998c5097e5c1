import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { withLevels } from '../domain/levels/level-sample.ts'
import type { UpstreamClient, UpstreamResponse } from './client.ts'
import { deviceApi } from './device-api.ts'
import { parsePushed, toDeviceReport } from './device-report.ts'
import { ApiError, ApiRateLimitError } from './errors.ts'

const {
  listDevices,
  partsOf,
  readPart,
  hasIdentity,
  withEarlierIdentity,
  isSameIdentity,
  differsOnlyInLevels,
  readLevels,
} = deviceApi
const family = (model: string) => (model.startsWith('ULXD') ? 'ulxd' : undefined)
const path = '/api/v1/devices'

/**
 * Creates a client whose response depends on the path. A number is returned as an error status; an unknown path results
 * in 404.
 */
function createFakeClient(responses: Record<string, unknown>): UpstreamClient & { readonly requests: string[] } {
  const requests: string[] = []
  const request = async (
    _method: string,
    requestPath: string,
    { accept = [] }: { accept?: readonly number[] } = {},
  ) => {
    requests.push(requestPath)
    const response = requestPath in responses ? responses[requestPath] : 404
    if (response instanceof Error) throw response
    const status = typeof response === 'number' ? response : 200
    if (status !== 200 && !accept.includes(status)) throw new ApiError(`answered ${status}`, { status })
    return { status, headers: {}, body: status === 200 ? response : undefined } satisfies UpstreamResponse
  }
  const client = {
    settings: { baseUrl: 'http://system' },
    errors: { ApiError, ApiRateLimitError },
    request,
    requests,
  }
  return client as unknown as UpstreamClient & { requests: string[] }
}

/** Returns the report of the only device, with every part read. */
async function readReport(item: object, parts: Record<string, unknown> = {}) {
  const responses = Object.fromEntries(Object.entries(parts).map(([part, body]) => [`${path}/d${part}`, body]))
  const client = createFakeClient({ [path]: [{ device_id: 'd', ...item }], ...responses })
  let [device] = (await listDevices(client)).devices
  if (device === undefined) throw new Error('no device')
  for (const part of partsOf(device)) device = await readPart(client, device, part)
  const { metadata, ...report } = toDeviceReport(device, family)
  return { report, device, requests: client.requests.slice(1) }
}

describe('device list', () => {
  // Conformance: C-3.1.
  test.each([
    ['an object', { devices: [{ device_id: 'a' }] }],
    ['a bare array', [{ device_id: 'a' }]],
  ])('may be %s', async (_, body) => {
    expect((await listDevices(createFakeClient({ [path]: body }))).devices.map(({ id }) => id)).toEqual(['a'])
  })

  test('may be empty', async () => {
    expect(await listDevices(createFakeClient({ [path]: { devices: [] } }))).toEqual({ devices: [], malformed: 0 })
  })

  test.each([{}, { devices: null }, { devices: {} }, { devices: 'none' }, 'devices', null, [7], [{}]])(
    '%j is rejected',
    async (body) => {
      await expect(listDevices(createFakeClient({ [path]: body }))).rejects.toThrow('invalid response from system')
    },
  )

  test('counts unusable entries and reports the reasons', async () => {
    const body = [{ device_id: 'a' }, {}, 'x', null, { device_id: { a: 1 } }, { id: 7 }]
    const { devices, ...rest } = await listDevices(createFakeClient({ [path]: body }))
    expect(devices.map(({ id }) => id)).toEqual(['a', '7'])
    expect(rest).toMatchObject({ malformed: 4 })
    const entry = 'entry 2 of the list'
    expect(rest.problems?.[0]).toEqual({ subject: entry, problem: 'it has no device_id', device: entry })
  })

  test('reads at most ten thousand entries', async () => {
    const body = Array.from({ length: 10_005 }, (_, requestPath) => ({ device_id: requestPath }))
    const { devices, malformed, problems } = await listDevices(createFakeClient({ [path]: body }))
    expect([devices.length, malformed]).toEqual([10_000, 0])
    expect(problems?.[0]?.problem).toContain('10005')
  })
})

describe('partsOf', () => {
  const identity = { ip: '10.0.0.1', serial_number: 'S', mac_address: '00:0e:dd:4a:00:01' }
  // Conformance: C-3.4.
  test.each<[object, string[]]>([
    [{}, ['identity', 'channels', 'transmitter']],
    [{ serial_number: 'S' }, ['identity', 'channels', 'transmitter']],
    [identity, ['channels', 'transmitter']],
    [{ ...identity, ip: undefined, ip_address: '10.0.0.1' }, ['channels', 'transmitter']],
    [{ ...identity, channels: [] }, ['transmitter']],
    [{ ...identity, channels: [], transmitter: null }, []],
    [{ ...identity, channels: [{ channel: 1 }], transmitters: [] }, []],
    [{ channels: null }, ['identity', 'channels', 'transmitter']],
    [{ channels: 4 }, ['identity', 'channels', 'transmitter']],
  ])('for an entry with %j requests %j', async (item, parts) => {
    const [device] = (await listDevices(createFakeClient({ [path]: [{ device_id: 'd', ...item }] }))).devices
    expect(device && partsOf(device)).toEqual(parts)
    expect(device && hasIdentity(device)).toBe(!parts.includes('identity'))
  })

  test.each([
    { ip: '10.0.0.1', serial_number: 'S' },
    { ip: '10.0.0.1', mac_address: '00:0e:dd:4a:00:01' },
  ])('%j identifies the device, and the other parts are requested', async (item) => {
    const [device] = (await listDevices(createFakeClient({ [path]: [{ device_id: 'd', ...item }] }))).devices
    expect(device && [hasIdentity(device), partsOf(device)]).toEqual([true, ['identity', 'channels', 'transmitter']])
  })
})

describe('channel and transmitter readings', () => {
  const two = { channels: [{ channel: 1 }, { channel: 2, frequency: 500 }] }

  // Conformance: C-3.2.
  test('assigns a single transmitter to channel 1 by default', async () => {
    const { report } = await readReport({}, { '/channels': two, '/transmitter': { battery_percentage: 40, slot: 2 } })
    expect(report.channels).toEqual([
      { channel: 1, transmitter: { battery: 40, upstream_slot: 2 } },
      { channel: 2, frequency: '500.000', transmitter: null },
    ])
  })

  // Conformance: C-3.3.
  test('reads several transmitters, one on a channel that is not in the channel list', async () => {
    const transmitters = [{ channel: 2, battery: 5 }, { channel: 3, rf_level: -60 }, { channel: 'x' }, {}]
    const { report } = await readReport({}, { '/channels': two, '/transmitter': { transmitters } })
    expect(report.channels?.map(({ channel, transmitter }) => [channel, transmitter])).toEqual([
      [1, null],
      [2, { battery: 5 }],
      [3, { rf_level: -60 }],
    ])
  })

  // Conformance: C-3.3.
  test('treats 404 as no channels or transmitters', async () => {
    const { report } = await readReport({}, { '/channels': two })
    expect(report.channels?.map(({ transmitter }) => transmitter)).toEqual([null, null])
  })

  test('ignores an invalid response of one device', async () => {
    const broken = new ApiError('not JSON', { status: 200 })
    for (const odd of [500, 502, 400, 409, broken, { channels: null }, { channels: 4 }, 'x']) {
      const { report, device } = await readReport(
        { battery_percentage: 9 },
        { '': odd, '/channels': odd, '/transmitter': 500 },
      )
      expect(report).not.toHaveProperty('channels')
      expect(hasIdentity(device)).toBe(true)
    }
  })

  // Conformance: C-3.26, C-4.2.
  test.each([
    ['credentials', new ApiError('no', { status: 401 })],
    ['access', new ApiError('no', { status: 403 })],
    ['a wait', new ApiRateLimitError('no', { status: 429 })],
    ['a maintenance', new ApiError('no', { status: 503, retryAfter: 7 })],
    ['no response', new ApiError('no')],
    ['an abort', new DOMException('stop', 'AbortError')],
  ])('throws on %s, which does not concern only this device', async (_, error) => {
    for (const part of ['', '/channels', '/transmitter']) {
      await expect(readReport({}, { '': {}, '/channels': [], '/transmitter': [], [part]: error })).rejects.toBe(error)
    }
  })
})

describe('list summary', () => {
  const summary = { battery_percentage: 40, rf_level: -50 }
  const asTransmitter = [{ channel: 1, transmitter: { battery: 40, rf_level: -50 } }]

  // Conformance: C-3.5.
  test('is used when the device has no channels', async () => {
    expect((await readReport(summary)).report.channels).toEqual(asTransmitter)
    expect((await readReport(summary, { '/channels': [] })).report.channels).toEqual(asTransmitter)
    expect((await readReport({ ...summary, channels: [] })).report.channels).toEqual(asTransmitter)
    expect((await readReport({ battery_percentage: null })).report).not.toHaveProperty('channels')
  })

  // Conformance: C-3.5.
  test('is ignored when channels or transmitters are reported or could not be read', async () => {
    expect((await readReport(summary, { '/channels': [{ channel: 2 }] })).report.channels).toEqual([
      { channel: 2, transmitter: null },
    ])
    expect((await readReport(summary, { '/transmitter': { battery: 9 } })).report.channels).toEqual([
      { channel: 1, transmitter: { battery: 9 } },
    ])
    expect((await readReport(summary, { '/channels': 500 })).report.channels).toEqual([])
  })
})

describe('consecutive poll cycles', () => {
  test('keep the identity but not the levels', async () => {
    const { device } = await readReport(
      {},
      { '': { ip: '10.0.0.1', serial_number: 'S' }, '/channels': [{ channel: 1 }] },
    )
    const [listed] = (await listDevices(createFakeClient({ [path]: [{ device_id: 'd', rf_level: -9 }] }))).devices
    if (listed === undefined) throw new Error('no device')
    expect(isSameIdentity(listed, device)).toBe(true)
    const { metadata, ...expected } = toDeviceReport(withEarlierIdentity(listed, device), family)
    expect(expected).toMatchObject({ ip: '10.0.0.1', serial_number: 'S' })
    expect(expected).not.toHaveProperty('channels')
  })

  test('detect that a device has gained channels', async () => {
    const { device } = await readReport({ rf_level: -9, channels: [], transmitters: [] })
    const item = { device_id: 'd', rf_level: -9, channels: [{ channel: 1 }, { channel: 2 }], transmitters: [] }
    const [listed] = (await listDevices(createFakeClient({ [path]: [item] }))).devices
    if (listed === undefined) throw new Error('no device')
    expect(toDeviceReport(withEarlierIdentity(listed, device), family).channels).toHaveLength(2)
  })

  test.each<[object, boolean]>([
    [{ device_name: 'A', battery_percentage: 3 }, true],
    [{ device_name: 'B' }, false],
    [{ device_name: 'A', status: 'offline' }, false],
    [{ device_name: 'A', device_type: 'bodypack' }, false],
    [{}, false],
  ])('compare the identity with %j as unchanged: %s', async (item, isSame) => {
    const list = async (item: object) =>
      (await listDevices(createFakeClient({ [path]: [{ device_id: 'd', ...item }] }))).devices[0]
    const [listed, before] = [await list(item), await list({ device_name: 'A' })]
    expect(listed && before && isSameIdentity(listed, before)).toBe(isSame)
  })
})

describe('toDeviceReport', () => {
  // Conformance: S-2.4, S-2.22, C-2.2, C-2.8, C-2.9.
  test.each<[object, object]>([
    [{}, { id: 'd', name: 'd', model_name: null, online: true, kind: 'receiver', device_type: 'receiver' }],
    [{ model: 'ULXD4' }, { name: 'ULXD4', model_name: 'ULXD4', device_type: 'ulxd' }],
    [{ model: 'Other', device_type: 'Mixer' }, { device_type: 'mixer' }],
    [{ status: ' Online ' }, { online: true }],
    [{ status: 'standby' }, { online: false }],
    [{ device_type: 'handheld' }, { kind: 'transmitter' }],
    [{ network_mode: 'DHCP' }, { network_mode: 'dhcp' }],
  ])('converts %j', async (item, expected) => {
    expect((await readReport(item)).report).toMatchObject(expected)
  })

  // Conformance: C-2.14.
  test('accepts only the four known network modes', async () => {
    expect((await readReport({ network_mode: 'weird' })).report).not.toHaveProperty('network_mode')
  })

  test('treats special property names as data', async () => {
    const item = JSON.parse('{"__proto__": {"status": "offline"}, "constructor": {"prototype": {"online": false}}}')
    const [device] = (await listDevices(createFakeClient({ [path]: [{ ...item, device_id: 'd' }] }))).devices
    expect(device && toDeviceReport(device, family).online).toBe(true)
    expect({}).not.toHaveProperty('status')
  })
})

test.each<[object, object]>([
  [{ rf_level: -50 }, { rf_level: -50 }],
  [{ battery_percentage: 30, audio_level: -20 }, { battery: 30 }],
  [{ status: 'offline' }, { online: false }],
  [
    { model: 'ULXD4', device_name: 'A' },
    { model_name: 'ULXD4', name: 'A', device_type: 'ulxd' },
  ],
  [{ transmitter: { battery: 4 } }, { channels: [{ channel: 1, transmitter: { battery: 4 } }] }],
  [{ transmitter: null }, { channels: [{ channel: 1, transmitter: null }] }],
  [{ transmitters: [{ channel: 2, rf_level: -6 }] }, { channels: [{ channel: 2, transmitter: { rf_level: -6 } }] }],
  [{ channels: [{ channel: 2, transmitter: null }] }, { channels: [{ channel: 2, transmitter: null }] }],
  [{ channels: 'x', transmitters: 7 }, {}],
])('a pushed message %j contains only its own fields', (fields, expected) => {
  expect(parsePushed('d', fields as Record<string, unknown>, family)).toEqual({
    id: 'd',
    kind: 'receiver',
    ...expected,
  })
})

describe('levels of a list entry', () => {
  /** Reads two lists of one device in succession. Returns the device of each, and the report of the first. */
  async function readTwice(before: object, after: object) {
    let body: Buffer
    const client = {
      settings: { baseUrl: 'http://system' },
      errors: { ApiError, ApiRateLimitError },
      request: async (_method: string, _path: string, { read }: { read(bytes: Buffer): Promise<unknown> }) => ({
        status: 200,
        headers: {},
        body: await read(body),
      }),
    } as unknown as UpstreamClient
    const read = async (item: object, previous?: Awaited<ReturnType<typeof listDevices>>) => {
      body = Buffer.from(JSON.stringify({ devices: [item] }))
      return listDevices(client, undefined, previous)
    }
    const first = await read(before)
    const [known] = first.devices
    if (known === undefined) throw new Error('no device')
    const report = toDeviceReport(known, family)
    const second = await read(after, first)
    const [listed] = second.devices
    if (listed === undefined) throw new Error('no device')
    return { known, report, listed, problems: [first.problems, second.problems] }
  }

  const channel = { channel: 1, name: 'Vox', frequency: '518.200', rf_level: -60, audio_level: -20 }
  const entry = { device_id: 'a', model: 'ULXD4', rf_level: -60, channels: [channel], transmitters: [{ battery: 80 }] }

  test('are returned if nothing else differs', async () => {
    const after = { ...entry, rf_level: -50, channels: [{ ...channel, rf_level: -50, audio_level: null }] }
    const { known, listed } = await readTwice(entry, after)
    expect(differsOnlyInLevels(listed, known)).toBe(true)
    expect(readLevels(listed)).toEqual([{ channel: 1, rf_level: -50, audio_level: null, transmitter: {} }])
  })

  test.each<[string, object]>([
    ['a battery', { transmitters: [{ battery: 79 }] }],
    ['a name', { channels: [{ ...channel, name: 'Keys' }] }],
    ['a field more', { firmware_version: '2.7' }],
    ['a field less', { model: undefined }],
    ['a channel more', { channels: [channel, { channel: 2 }] }],
    ['a level less', { channels: [{ ...channel, rf_level: undefined }] }],
    ['a level of the device that is invalid', { rf_level: 'strong' }],
  ])('are not returned if the entries also differ in %s', async (_, change) => {
    const { known, listed } = await readTwice(entry, { ...entry, ...change })
    expect(differsOnlyInLevels(listed, known)).toBe(false)
  })

  test('added to the earlier report result in the same report as a complete conversion', async () => {
    const level = fc.constantFrom<unknown>(-60, -61.4, 300, null, 'loud', undefined)
    const levels = { rf_level: level, audio_level: level }
    const transmitter = fc.option(fc.record({ battery: fc.constantFrom(80, 79), slot: fc.constant(1), ...levels }))
    const channels = fc.uniqueArray(
      fc.record({ channel: fc.constantFrom(1, 2, 'x'), name: fc.constantFrom('Vox', 'Keys'), ...levels, transmitter }),
      { maxLength: 3, selector: ({ channel: number }) => number },
    )
    const transmitters = fc.array(fc.record({ channel: fc.constantFrom(1, 2, 3), battery: fc.constant(50), ...levels }))
    const item = fc.record(
      { device_id: fc.constant('a'), rf_level: level, channels, transmitters },
      { requiredKeys: ['device_id', 'channels'] },
    )
    const changed = item.chain(({ channels, transmitters, ...before }) => {
      const withLevels = withOtherLevels({ channels, transmitters }).map((levels) => ({ ...before, ...levels }))
      return fc.tuple(fc.constant({ ...before, channels, transmitters }), fc.oneof(item, withLevels))
    })
    let compared = 0
    await fc.assert(
      fc.asyncProperty(changed, async ([before, after]) => {
        const { known, report, listed, problems } = await readTwice(before, after)
        const fresh = await readTwice(after, after)
        expect(problems[1]).toEqual(fresh.problems[0])
        if (!differsOnlyInLevels(listed, known)) return
        compared += 1
        const { metadata: _, ...expected } = toDeviceReport(fresh.known, family)
        const { metadata: __, ...actual } = withLevels(report, readLevels(listed))
        expect(actual).toEqual(expected)
        expect(toDeviceReport(known, family)).toEqual(toDeviceReport(fresh.known, family))
      }),
      { numRuns: 500 },
    )
    expect(compared).toBeGreaterThan(50)
  })

  function withOtherLevels<T>(value: T): fc.Arbitrary<T> {
    if (typeof value !== 'object' || value === null) return fc.constant(value)
    if (Array.isArray(value)) return fc.tuple(...value.map((inner) => withOtherLevels(inner))) as never
    const fields = Object.entries(value).map(([key, inner]) => [
      key,
      /_level$/.test(key) && inner !== undefined ? fc.constantFrom(-50, 300, null, 'loud') : withOtherLevels(inner),
    ])
    return fc.record(Object.fromEntries(fields)) as never
  }
})
