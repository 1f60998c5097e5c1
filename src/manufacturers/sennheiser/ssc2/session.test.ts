/** The reports of sessions with an individual Sennheiser device with SSC 2, and the ends of these sessions. */

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { meters } from '../../../../simulators/sennheiser/ssc2-resources.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { findEvent } from '../../../../test/support/plugins/device-kit.ts'
import { openDrippingLine } from '../../../../test/support/plugins/dripping-line.ts'
import {
  countResources,
  minResources,
  rejectionOf,
  until,
} from '../../../../test/support/plugins/plugin-kit-resources.ts'
import { drain, follow, openTestSource, start, transmitterOf } from '../../../../test/support/plugins/ssc2.ts'
import { timeLimit } from '../../../../test/support/time-limit.ts'
import { getDevices, type PushEvent } from '../../plugin.ts'
import { sennheiser } from '../index.ts'

const { ApiError } = sennheiser.errors

describe('a session', () => {
  test('reports everything, then changes; unknown messages are ignored', async () => {
    const simulator = await start()
    const iterator = await follow(openTestSource(simulator.url))
    await findEvent(iterator, (event) => transmitterOf(event)?.battery === 83)
    simulator.set('/api/transmitters/0/battery', { gauge: 30 })
    await findEvent(iterator, (event) => transmitterOf(event)?.battery === 30)
    simulator.send('no sense')
    await findEvent(iterator, ({ type }) => type === 'ignored')
    simulator.send('{"path":"/api/transmitters/0/battery","value":{"gauge":12}}')
    await findEvent(iterator, (event) => transmitterOf(event)?.battery === 12)
  })

  test('reports the warnings of a channel and its transmitter until they end', async () => {
    const simulator = await start()
    const iterator = await follow(openTestSource(simulator.url))
    const hasWarnings = (expected: string) => (event: PushEvent) => {
      const { details, transmitter } = (event.type === 'report' && event.report.channels?.[0]) || {}
      return [details?.overload, details?.rf_low, transmitter?.details?.battery_low].join() === expected
    }
    await findEvent(iterator, hasWarnings('false,false,false'))
    simulator.set('/api/channel/0/warnings', ['LowSignal'])
    simulator.set('/api/transmitters/0/warnings', ['LowBattery', 'AfPeak'])
    await findEvent(iterator, hasWarnings('true,true,true'))
    simulator.set('/api/channel/0/warnings', [])
    simulator.set('/api/transmitters/0/warnings', [])
    await findEvent(iterator, hasWarnings('false,false,false'))
  })

  test('reports the capsule and the low cut of a transmitter', async () => {
    const simulator = await start()
    const iterator = await follow(openTestSource(simulator.url))
    const hasCapsule = (expected: string) => (event: PushEvent) => {
      const details = transmitterOf(event)?.details
      return [details?.capsule, details?.low_cut_hz].join() === expected
    }
    await findEvent(iterator, hasCapsule('MMD 835,80'))
    simulator.set('/api/transmitters/0', { capsule: 'KK_205', lowcut: 'Off' })
    await findEvent(iterator, hasCapsule('KK 205,0'))
  })

  test('continues if one path is rejected, and requests it again when a transmitter is linked', async () => {
    const simulator = await start({ product: 'EWDX4CHDS' })
    simulator.setLinked(1, false)
    const iterator = await follow(openTestSource(simulator.url))
    const removed = await findEvent(iterator, (event) => transmitterOf(event) === null)
    expect(removed).toMatchObject({ type: 'report', isComplete: true })
    await eventually(() => simulator.requests.filter((request) => request.endsWith('/add')).length).toBeGreaterThan(10)
    simulator.setLinked(1, true)
    await findEvent(iterator, (event) => transmitterOf(event)?.battery === 83)
    simulator.setLinked(1, false)
    await findEvent(iterator, (event) => transmitterOf(event) === null)
  })

  // Conformance: C-22.7.
  test('names what a device refuses, and what it reports in an undocumented form', async () => {
    const without = ['/api/audio/metering', '/api/health/psu']
    const simulator = await start({ product: 'Spectera Base Station', without })
    let problems: readonly string[] = []
    const iterator = await follow(openTestSource(simulator.url), undefined, (all) => {
      problems = all.map(({ subject, problem }) => `${subject}: ${problem}`)
    })
    const refused = `${new URL(simulator.url).host}: the device refuses /api/health/psu (status 400), /api/audio/metering (status 400), so these values are unknown`
    await eventually(() => problems).toEqual([refused])
    simulator.send('{"/api/mts/paired/11":{"batteryFillLevel":"full"},"/api/rf/antennas":7}')
    const report = await findEvent(iterator, (event) => transmitterOf(event)?.battery === null)
    expect(report).toMatchObject({ report: { channels: [{ name: 'LEAD' }, {}] } })
    const both = `${refused.replace(', so these values are unknown', '')}, and the device reports /api/mts/paired/* batteryFillLevel, /api/rf/antennas/* in an undocumented form, so these values are unknown`
    expect(problems).toEqual([both])
    simulator.send('{"/api/mts/paired/11":{"batteryFillLevel":74}}')
    await findEvent(iterator, (event) => transmitterOf(event)?.battery === 74)
    expect(problems.at(-1)).not.toMatch(/batteryFillLevel/)
  })

  // Conformance: C-24.16.
  test.each([17, 18] as const)('reads meters, interfaces and clocks of API %i without refused paths', async (api) => {
    const simulator = await start({ product: 'Spectera Base Station', api })
    let problems: readonly unknown[] = []
    const iterator = await follow(openTestSource(simulator.url), undefined, (all) => {
      problems = all
    })
    const complete = await findEvent(
      iterator,
      (event) =>
        event.type === 'report' &&
        event.report.channels?.[0]?.audio_level === -20 &&
        event.report.firmware_version !== undefined,
    )
    expect(complete).toMatchObject({
      report: {
        details: {
          interfaces: { aoip: { type: 'Dante', status: 'Locked' }, madi1: { clock_source: 'Internal48kHz' } },
        },
      },
    })
    const source = openTestSource(simulator.url)
    await source.listDevices()
    const devices = await getDevices(source.adapter, source.client)
    const [polled] = devices.map((device) => source.adapter.transformDeviceData(device))
    expect(polled).toMatchObject({ channels: [{ audio_level: -20 }, {}], details: { interfaces: { aoip: {} } } })
    expect([problems, devices.flatMap((device) => source.adapter.problemsOf?.(device) ?? [])]).toEqual([[], []])
  })

  test('supports many packs of one base station', async () => {
    const simulator = await start({ product: 'Spectera Base Station' })
    const iterator = await follow(openTestSource(simulator.url))
    const names = (event: PushEvent) =>
      event.type === 'report' ? event.report.channels?.map(({ channel, name }) => `${channel} ${name}`).join() : ''
    await findEvent(iterator, (event) => names(event) === '1 LEAD,4 BASS')
    simulator.send('{"/api/mts/paired/all":{},"/api/mts/paired/12":{"name":"BASS 2"}}')
    await findEvent(iterator, (event) => names(event) === '1 LEAD,4 BASS 2')
    simulator.send('{"/api/mts/paired/12":null}')
    const removed = await findEvent(iterator, (event) => names(event) === '1 LEAD,4 undefined')
    expect(removed).toMatchObject({
      report: { channels: [{}, { channel: 4, rf_level: null, transmitter: null }] },
    })
  })

  test('reports fast meters ten times a second, and everything else at once', async () => {
    const simulator = await start({ product: 'Spectera Base Station', levelIntervalMs: 10 })
    const iterator = await follow(openTestSource(simulator.url))
    const audioOf = (event: PushEvent) => event.type === 'report' && event.report.channels?.[0]?.audio_level
    await findEvent(iterator, (event) => audioOf(event) === -20)
    const startedAt = performance.now()
    let reportCount = 0
    await findEvent(iterator, () => ++reportCount > 4 && performance.now() - startedAt > 1000)
    expect(reportCount).toBeLessThanOrEqual((performance.now() - startedAt) / 100 + 2)
    simulator.set('/api/audio/metering', meters([{ peak: -3, rms: -9 }]))
    simulator.set('/api/mts/paired/all', [
      { mtUid: 11, name: 'LEAD', state: 'Connected', micAudiolinkId: 0, batteryFillLevel: 12 },
    ])
    // On a busy machine, one more report of the meters may come first.
    const next = [await findEvent(iterator, () => true), await findEvent(iterator, () => true)]
    expect(next.map((event) => transmitterOf(event)?.battery)).toContain(12)
    await findEvent(iterator, (event) => audioOf(event) === -9)
  })
})

describe('a session that may be interrupted', () => {
  test('ends with an error if it is closed, dropped or empty', async () => {
    const simulator = await start()
    const closed = await follow(openTestSource(simulator.url))
    simulator.setAccess(false)
    await expect(drain(closed)).rejects.toThrow(/closed the session/)
    simulator.setAccess(true)
    const dropped = await follow(openTestSource(simulator.url))
    await simulator.close()
    await expect(drain(dropped)).rejects.toBeInstanceOf(ApiError)
    const full = await start({ maxSessions: 0 })
    await expect(follow(openTestSource(full.url))).rejects.toMatchObject({ status: 503 })
  })

  test('ends within seconds if a device sends nothing and does not respond', async () => {
    const simulator = await start()
    const iterator = await follow(openTestSource(simulator.url, { timeout: 1 }))
    // The firmware version is the last value that is reported at the start.
    const firmware = ({ type, ...event }: PushEvent) => type === 'report' && JSON.stringify(event).includes('4.0.2')
    await findEvent(iterator, firmware)
    await pause(100)
    simulator.setSilent(true)
    await expect(drain(iterator)).rejects.toThrow(/no response/)
    expect(simulator.requests.filter((request) => request === 'GET /api/ssc/version')).toHaveLength(2)
  })

  // Conformance: C-24.69.
  test.each(['EWDX2CHS', 'Spectera Base Station'] as const)(
    'ends within seconds if a device (%s) sends byte by byte',
    async (product) => {
      const simulator = await start({ product })
      let isDripping = false
      const config = { timeout: 1 }
      const source = openTestSource(await openDrippingLine(simulator.url, () => isDripping), config)
      const iterator = await follow(source)
      await findEvent(iterator, ({ type }) => type === 'report')
      isDripping = true
      const startedAt = performance.now()
      expect(await rejectionOf(drain(iterator))).toBeInstanceOf(ApiError)
      const again = openTestSource(await openDrippingLine(simulator.url), config)
      for (const error of await Promise.all([rejectionOf(again.listDevices()), rejectionOf(follow(again))]))
        expect(error).toBeInstanceOf(ApiError)
      expect(performance.now() - startedAt).toBeLessThan(timeLimit(10_000))
    },
  )

  test('continues if a device has nothing to send', async () => {
    const simulator = await start({ levelIntervalMs: 1_000_000 })
    const iterator = await follow(openTestSource(simulator.url, { timeout: 2 }))
    await findEvent(iterator, (event) => transmitterOf(event)?.battery === 83)
    const next = findEvent(iterator, (event) => transmitterOf(event)?.battery === 30)
    await pause(4000)
    simulator.set('/api/transmitters/0/battery', { gauge: 30 })
    await next
  })

  test('ends at once on an abort at any moment and leaves no open resources', async () => {
    const simulator = await start({ product: 'EWDX4CHDS' })
    for (const afterMs of [0, 3, 20, 200]) {
      const resourcesBefore = await minResources()
      const source = openTestSource(simulator.url)
      const controller = new AbortController()
      const listing = rejectionOf(source.listDevices(controller.signal))
      const following = rejectionOf(follow(source, controller.signal).then(drain))
      await pause(afterMs)
      controller.abort('enough')
      const abortedAt = performance.now()
      const [listed] = await Promise.all([listing, following])
      expect(performance.now() - abortedAt, `after ${afterMs} ms`).toBeLessThan(timeLimit(600))
      expect([undefined, 'enough'], `after ${afterMs} ms`).toContain(listed)
      await source.client.close()
      await until(
        () => simulator.sessions === 0 && countResources() <= resourcesBefore,
        `no open resources after ${afterMs} ms`,
      )
    }
  })

  test('ends without an error on abort and closes the session on the device', async () => {
    const simulator = await start()
    const controller = new AbortController()
    const iterator = await follow(openTestSource(simulator.url), controller.signal)
    await findEvent(iterator, ({ type }) => type === 'report')
    const ended = drain(iterator)
    controller.abort()
    await ended
    await eventually(() => simulator.sessions).toBe(0)
  })
})
