/** Levels that are stored while their receiver changes in memory. */

import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it, vi } from 'vitest'
import { readConfig } from '../src/config.ts'
import type { DeviceReport } from '../src/domain/equipment/receiver.ts'
import { Service } from '../src/service.ts'
import { onTestEnd } from './support/cleanup.ts'
import { createTestFolder } from './support/store/databases.ts'

const manufacturer = 'shure'

/** Opens two runtimes that share a database, as two processes do. They poll nothing. */
async function openTwo(): Promise<readonly [Service, Service]> {
  const folder = await createTestFolder()
  onTestEnd(folder.drop)
  const open = async () => {
    const config = readConfig({ data_dir: folder.path, database_url: `sqlite:${join(folder.path, 'micwatch.db')}` }, {})
    const service = await Service.open(config, {
      log: pino({ level: 'silent' }),
      pid: process.pid,
      manufacturers: [{ code: manufacturer, config: { api_base_url: 'http://127.0.0.1:9', shared_key: 'none' } }],
    })
    onTestEnd(() => service.close())
    return service
  }
  return [await open(), await open()]
}

const report = (rf_level: number): DeviceReport => ({
  id: 'rack-1',
  kind: 'receiver',
  serial_number: 'S1',
  channels: [{ channel: 1, rf_level }],
})

const reportWithPack = (rf_level: number, battery: number): DeviceReport => ({
  ...report(rf_level),
  channels: [{ channel: 1, rf_level, transmitter: { battery } }],
})

const levelIn = ({ receiverStore }: Service) => receiverStore.list()[0]?.channels[0]?.rf_level

/**
 * Ends a polling cycle, which stores the levels, and calls `change` before their transaction is committed; on a slow
 * machine also before those of other work.
 */
async function storeLevels({ db, ingest }: Service, change: () => void): Promise<void> {
  const transaction = db.transaction.bind(db)
  const spy = vi.spyOn(db, 'transaction').mockImplementation((work) =>
    transaction(async (tx) => {
      const result = await work(tx)
      change()
      return result
    }),
  )
  await ingest.ingest({ manufacturer, reports: [], endsCycle: true })
  expect(spy).toHaveBeenCalled()
  spy.mockRestore()
}

it('counts levels as saved if only a condition changes while they are stored', async () => {
  const [one, two] = await openTwo()
  await one.ingest.ingest({ manufacturer, reports: [report(-50)] })
  await one.ingest.ingest({ manufacturer, reports: [report(-60)] })
  await storeLevels(one, () => {
    const [receiver] = one.receiverStore.list()
    if (receiver === undefined) throw new Error('There is no receiver.')
    const channels = receiver.channels.map((channel) => ({
      ...channel,
      condition: { ...channel.condition, since: channel.condition.since + 1 },
    }))
    one.ingest.publishConditions({ ...receiver, channels })
  })
  await two.ingest.catchUp()
  expect(levelIn(two)).toBe(-60)

  // Unsaved levels would be kept instead of those that the other process stores.
  await two.ingest.ingest({ manufacturer, reports: [report(-70)] })
  await storeLevels(two, () => {})
  await one.ingest.catchUp()
  expect(levelIn(one)).toBe(-70)
})

it('keeps levels that arrive while earlier ones are stored, and stores them in the next cycle', async () => {
  const [one, two] = await openTwo()
  await one.ingest.ingest({ manufacturer, reports: [report(-50)] })
  await one.ingest.ingest({ manufacturer, reports: [report(-60)] })
  await storeLevels(one, () => one.ingest.applyLevels({ manufacturer, reports: [report(-65)] }))
  await two.ingest.catchUp()
  expect([levelIn(one), levelIn(two)]).toEqual([-65, -60])
  await two.ingest.ingest({ manufacturer, reports: [report(-70)] })
  await storeLevels(two, () => {})
  await one.ingest.catchUp()
  expect(levelIn(one)).toBe(-65)
  await storeLevels(one, () => {})
  await two.ingest.catchUp()
  expect(levelIn(two)).toBe(-65)
})

// Reliability: S13.
it('loads facts that another process stores while its own levels are not stored yet', async () => {
  const [one, two] = await openTwo()
  const readPack = ({ receiverStore }: Service) => receiverStore.list()[0]?.channels[0]?.transmitter
  await one.ingest.ingest({ manufacturer, reports: [reportWithPack(-50, 80)] })
  await two.ingest.catchUp()
  await two.ingest.ingest({ manufacturer, reports: [report(-65)] })
  await one.ingest.ingest({ manufacturer, reports: [reportWithPack(-50, 7)], endsCycle: true })
  await two.ingest.catchUp()
  expect(readPack(two)).toMatchObject({ battery: 7 })
  expect(levelIn(two)).toBe(-65)

  // Facts of its own that are not stored yet are kept.
  await two.ingest.ingest({ manufacturer, reports: [reportWithPack(-65, 9)] })
  await one.ingest.ingest({ manufacturer, reports: [reportWithPack(-55, 6)], endsCycle: true })
  await two.ingest.catchUp()
  expect(readPack(two)).toMatchObject({ battery: 9 })
  await vi.waitFor(async () => {
    await one.ingest.catchUp()
    expect(readPack(one)).toMatchObject({ battery: 9 })
  })
})

it('changes receivers with the readings that another process stored in the meantime, in the first attempt', async () => {
  const [one, two] = await openTwo()
  await one.ingest.ingest({ manufacturer, reports: [report(-50)] })
  await two.ingest.catchUp()
  const { revision } = two.receiverStore.revisions
  await one.ingest.ingest({ manufacturer, reports: [report(-60)] })
  const transaction = two.db.transaction.bind(two.db)
  vi.spyOn(two.db, 'transaction').mockImplementationOnce(async (work) => {
    await storeLevels(one, () => {})
    return transaction(work)
  })
  const levels: unknown[] = []
  await two.ingest.change(async () => levels.push(levelIn(two)))
  expect(levels).toEqual([-60])
  expect(two.receiverStore.revisions.revision).toBe(revision + 1)
})
