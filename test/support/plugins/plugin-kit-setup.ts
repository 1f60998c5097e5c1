/** Shared by the checks of a plugin: its simulator and clients, which are closed after the test. */

import { afterEach } from 'vitest'
import type { ShowDevice } from '../../../simulators/show/cast.ts'
import type { Simulator, SimulatorOptions } from '../../../simulators/show/simulator.ts'
import type { ChannelReading } from '../../../src/domain/equipment/receiver.ts'
import type { Plugin, PluginConfig, ProtocolAdapter } from '../../../src/manufacturers/plugin.ts'
import { createUpstreamClient, type UpstreamClient } from '../../../src/upstream/client.ts'
import { createRequestThrottle, type RequestThrottle } from '../../../src/upstream/request-throttle.ts'
import { unlimitedRate } from '../simulator-client.ts'

export interface PluginUnderTest {
  readonly plugin: Plugin
  /** The protocol adapter that matches the simulator; by default the plugin's first. */
  readonly adapter?: ProtocolAdapter
  startSimulator(options: SimulatorOptions): Promise<Simulator>
  /** `new URL('../../fixtures/', import.meta.url)`; its parent is the plugin's folder. */
  readonly fixtures: URL
  /** Returns the id under which the system lists a device of the simulated show; by default its id in the show. */
  readonly idOf?: (device: ShowDevice) => string
  /**
   * Returns true if a reading has the transmitter name, levels and battery of `change`. Compares only the battery by
   * default.
   */
  readonly showsChange?: (channel: ChannelReading) => boolean
  /** True if removed devices stay in the list as offline. */
  readonly keepsDevices?: boolean
  /** True by default. */
  readonly hasSerials?: boolean
  /** The limits in the connection settings of every client; by default a time limit and the highest request rate. */
  readonly limits?: PluginConfig
  /** The key of the password or token in the configuration; by default `shared_key` or `password`. */
  readonly secret?: string
  /** Returns the configuration with which only one certificate is trusted; by default an entry of `devices`. */
  readonly pin?: (config: PluginConfig, fingerprint: string) => PluginConfig
  /** Matches the error about a response that is not a device list. */
  readonly wrongShape?: RegExp
}

/** A plugin, with functions that start its simulator and connect to it until the end of the test. */
export interface PluginKit extends Required<Omit<PluginUnderTest, 'secret'>>, Pick<PluginUnderTest, 'secret'> {
  start(options?: SimulatorOptions): Promise<Simulator>
  connect(config: PluginConfig, throttle?: RequestThrottle): UpstreamClient
  closeAfterTest<T extends Closable>(resource: T): T
  /** Closes what was opened last before the test ends. */
  closeLast(): Promise<void>
}

interface Closable {
  close(): unknown
}

/** A change of a device in the simulated show. */
export const change = { name: 'Understudy', rf_level: -71, audio_level: -9, transmitter: true, battery: 7 }
const hasBattery = ({ transmitter }: ChannelReading) => transmitter?.battery === change.battery

const usualLimits = { timeout: 60, calls_per_second: unlimitedRate.perSecond, burst: unlimitedRate.burst }

export function createKit(options: PluginUnderTest): PluginKit {
  const { plugin, startSimulator, limits = usualLimits } = options
  const open: Closable[] = []
  const closeLast = async () => void (await open.pop()?.close())
  afterEach(async () => {
    while (open.length > 0) await closeLast()
  })
  const closeAfterTest = <T extends Closable>(resource: T): T => {
    open.push(resource)
    return resource
  }
  const settingsOf = (config: PluginConfig) => {
    const [source] = plugin.listSources({ ...limits, ...config })
    if (source === undefined) throw new Error('the configuration names no source')
    return source
  }
  return {
    adapter: defaultAdapter(plugin),
    idOf: ({ id }) => id,
    showsChange: hasBattery,
    keepsDevices: false,
    hasSerials: true,
    limits,
    pin: ({ api_base_url: url, ...config }, fingerprint) => ({ ...config, devices: [{ url, fingerprint }] }),
    wrongShape: /not a list of devices/,
    ...options,
    start: async (simulatorOptions) =>
      closeAfterTest(
        await startSimulator({
          rateLimit: unlimitedRate,
          story: false,
          pushesPerSecond: 0,
          receivers: 3,
          ...simulatorOptions,
        }),
      ),
    connect: (config, throttle = createRequestThrottle()) =>
      closeAfterTest(createUpstreamClient({ settings: settingsOf(config), errors: plugin.errors, throttle })),
    closeAfterTest,
    closeLast,
  }
}

function defaultAdapter(plugin: Plugin): ProtocolAdapter {
  const [adapter] = plugin.adapters
  if (adapter === undefined) throw new Error(`${plugin.code} has no protocol adapter`)
  return adapter
}
