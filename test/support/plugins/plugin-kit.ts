/**
 * Tests that every manufacturer's plugin must pass, over real sockets against its own simulator: the ten checks of
 * docs/adding-a-manufacturer.md. The test of a plugin calls `describePlugin` and adds its own tests.
 */

import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { plugins } from '../../../src/manufacturers/index.ts'
import { getDevices } from '../../../src/manufacturers/plugin.ts'
import { describeFailures, testAbort, testRateLimit, testRetryAfter } from './plugin-kit-faults.ts'
import { expectCommonFormat, freeze, readFixtures, serveFixture } from './plugin-kit-fixtures.ts'
import { describePush } from './plugin-kit-push.ts'
import { rejectionOf } from './plugin-kit-resources.ts'
import { createKit, type PluginKit, type PluginUnderTest } from './plugin-kit-setup.ts'

export function describePlugin(options: PluginUnderTest): void {
  const kit = createKit(options)
  testCode(kit)
  describeFixtures(kit)
  describeDevices(kit)
  testCredentials(kit)
  testRetryAfter(kit)
  describeFailures(kit)
  testAbort(kit)
  testRateLimit(kit)
  describePush(kit)
}

function testCode({ plugin, fixtures }: PluginKit): void {
  // Conformance: S-1.6.
  test('1: its code is the name of its folder and unique in the list, and it has a name', () => {
    expect(fileURLToPath(fixtures)).toMatch(new RegExp(`/manufacturers/${plugin.code}/(.+/)?fixtures/$`))
    expect(plugins.filter(({ code }) => code === plugin.code)).toEqual([plugin])
    expect(plugin.name).not.toBe('')
  })
}

function describeFixtures({ adapter, fixtures, secret = 'password', connect, closeAfterTest }: PluginKit): void {
  describe('2: fixtures', () => {
    // Conformance: S-1.2, S-2.22, C-2.9, C-3.2, C-3.9.
    test.each(readFixtures(fixtures))(
      '$name is transformed to the common format, twice with the same result',
      async ({ fixture }) => {
        const server = closeAfterTest(await serveFixture(fixture))
        const devices = await getDevices(adapter, connect({ api_base_url: server.url, [secret]: 'x' }))
        const reports = devices.map((device) => adapter.transformDeviceData(freeze(device)))
        for (const report of reports) expectCommonFormat(report)
        expect(devices.map((device) => adapter.transformDeviceData(device))).toEqual(reports)
        expect(reports.map(({ metadata, ...report }) => report)).toEqual(fixture.reports)
      },
    )
  })
}

function describeDevices({ adapter, hasSerials, start, connect }: PluginKit): void {
  describe('3: devices', () => {
    // Conformance: S-1.6, S-4.21.
    test.each([{ richList: false }, { richList: true }])('returns all devices (%o)', async (options) => {
      const simulator = await start({ receivers: 7, ...options })
      const devices = await getDevices(adapter, connect(simulator.config))
      expect(devices).toHaveLength(simulator.deviceCount)
      const online = devices.map((device) => adapter.transformDeviceData(device)).filter((report) => report.online)
      expect(online.length).toBeGreaterThan(0)
      for (const { serial_number, channels } of online) {
        expect(channels).not.toHaveLength(0)
        if (hasSerials) expect(serial_number).toBeTruthy()
      }
    })

    test('skips and counts a malformed device, and returns the others', async () => {
      const simulator = await start()
      const client = connect(simulator.config)
      simulator.setFault({ type: 'malformed-device', how: 'id-missing' })
      expect(await adapter.listDevices(client)).toMatchObject({ devices: { length: 2 }, malformed: 1 })
      for (const how of ['battery-word', 'name-object'] as const) {
        simulator.setFault({ type: 'malformed-device', how })
        const { devices } = await adapter.listDevices(client)
        expect(devices).toHaveLength(3)
        for (const device of devices) expectCommonFormat(adapter.transformDeviceData(device))
      }
    })
  })
}

function testCredentials({ plugin, adapter, secret: key, start, connect }: PluginKit): void {
  const { ApiError } = plugin.errors
  // Conformance: S-5.3, S-7.7.
  test('4: accepts valid credentials, and distinguishes wrong ones from disabled access, with instructions', async () => {
    const simulator = await start()
    await adapter.listDevices(connect(simulator.config))
    const secret = key ?? ('shared_key' in simulator.config ? 'shared_key' : 'password')
    const before = simulator.requests.total
    const wrong = await rejectionOf(adapter.listDevices(connect({ ...simulator.config, [secret]: 'wrong' })))
    expect(wrong).toBeInstanceOf(ApiError)
    expect(wrong).toMatchObject({ status: 401, message: expect.stringMatching(/check the key or password/) })
    expect(simulator.requests.total - before).toBeLessThanOrEqual(2)
    simulator.setFault({ type: 'status', status: 403 })
    const closed = await rejectionOf(adapter.listDevices(connect(simulator.config)))
    expect(closed).toBeInstanceOf(ApiError)
    expect(closed).toMatchObject({ status: 403, message: expect.stringMatching(/disabled .* enable/) })
  })
}
