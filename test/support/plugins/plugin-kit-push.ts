/** Check 10 of a plugin: what its system pushes. */

import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Simulator, SimulatorOptions } from '../../../simulators/show/simulator.ts'
import type { DeviceReport } from '../../../src/domain/equipment/receiver.ts'
import type { PushEvent } from '../../../src/manufacturers/plugin.ts'
import { drain, firstEvent, listen, untilAborted } from './plugin-kit-calls.ts'
import { countResources, minResources, rejectionOf, until } from './plugin-kit-resources.ts'
import { change, type PluginKit } from './plugin-kit-setup.ts'

export function describePush(kit: PluginKit): void {
  const { plugin, adapter, idOf, showsChange, keepsDevices, start, connect, closeLast } = kit
  const { ApiError } = plugin.errors
  const listens = adapter.subscribe !== undefined || adapter.follow !== undefined
  describe.runIf(listens)('10: push', () => {
    const follow = async (options: SimulatorOptions = {}) => {
      const simulator = await start(options)
      const controller = new AbortController()
      const devices = simulator.show.devicesAt(0, simulator.manufacturer).map(({ device }) => device)
      const ids = devices.map(idOf)
      const targets = { ids: () => ids, changed: untilAborted }
      const events = listen(adapter, connect(simulator.config), controller.signal, targets)
      const iterator = events[Symbol.asyncIterator]()
      expect((await iterator.next()).value).toMatchObject({ type: firstEvent(adapter) })
      return { simulator, controller, iterator, id: ids[0] ?? '', showId: devices[0]?.id ?? '' }
    }

    if (adapter.subscribe !== undefined)
      test('reports what the system pushes, and ignores unknown messages', async () => {
        const { simulator, iterator: events, id, showId } = await follow()
        const iterator = events as AsyncIterator<PushEvent>
        simulator.push.send('no sense')
        expect(await find(iterator, (event) => event.type === 'ignored')).toBeDefined()
        simulator.show.set(showId, change, 1)
        simulator.push.flush()
        const isChange = ({ channels }: DeviceReport) =>
          channels?.some((reading) => reading.channel === 1 && showsChange(reading))
        await find(iterator, (event) => event.type === 'report' && event.report.id === id && isChange(event.report))
        simulator.show.set(showId, { online: false })
        simulator.push.flush()
        await find(iterator, (event) => event.type === 'report' && event.report.online === false)
        if (keepsDevices) return
        simulator.show.remove(showId)
        simulator.push.flush()
        await find(iterator, (event) => event.type === 'removed' && event.id === id)
      })

    test('ends without an error on abort and leaves no open resources', async () => {
      const resourcesBefore = await minResources()
      const { simulator, controller, iterator } = await follow()
      const ended = drain({ [Symbol.asyncIterator]: () => iterator })
      await pause(50)
      controller.abort()
      await ended
      await until(() => simulator.push.connections === 0)
      await closeLast()
      await closeLast()
      await until(() => countResources() <= resourcesBefore, 'the subscription leaves no open resources')
    })

    test('ends with an error when the connection is lost', async () => {
      for (const loseConnection of [
        (simulator: Simulator) => simulator.setFault({ type: 'close-connections' }),
        (simulator: Simulator) => void simulator.close(),
      ]) {
        const { simulator, iterator } = await follow()
        const ended = rejectionOf(drain({ [Symbol.asyncIterator]: () => iterator }))
        loseConnection(simulator)
        expect(await ended).toBeInstanceOf(ApiError)
      }
    })
  })
}

async function find(iterator: AsyncIterator<PushEvent>, matches: (event: PushEvent) => unknown): Promise<PushEvent> {
  for (;;) {
    const { value, done } = await iterator.next()
    if (done) throw new Error('the subscription ended')
    if (matches(value)) return value
  }
}
