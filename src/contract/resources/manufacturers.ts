/** Manufacturers, their plugins, and connection tests. */

import Type from 'typebox'
import { type Body, flag, listOf, named, oneOf, orNull, text, textOrNull, wholeOrNull } from '../described.ts'
import { transports } from '../values.ts'
import { upstreamDetails, upstreamStatus } from './health.ts'

export const ManufacturerRecord = named('Manufacturer', 'A manufacturer whose systems are monitored.', {
  code: text('Code that identifies the manufacturer.'),
  name: text('Display name.'),
  plugin: text('Code of the plugin for its systems.'),
  api_enabled: flag('False while it is disabled.'),
  config: Type.Record(Type.String(), Type.Unknown(), {
    description: 'Configuration of the plugin; `********` stands for a stored secret.',
  }),
  secrets_unreadable: flag('True if the stored secrets cannot be decrypted and must be entered again.'),
  status: upstreamStatus.status,
  error: upstreamDetails.error,
  sources: upstreamDetails.sources,
  device_errors: upstreamDetails.device_errors,
  more: upstreamDetails.more,
})
export type ManufacturerBody = Body<typeof ManufacturerRecord>

export const Plugin = named('Plugin', "A plugin for a manufacturer's systems.", {
  code: text("Code to use as a manufacturer's `plugin`."),
  name: text('Display name.'),
  transport: orNull(
    oneOf(transports, 'Transport.'),
    'Transport of real-time updates; null if it only supports polling.',
  ),
  has_discovery_list: flag('True if the systems have a list of addresses at which they look for devices.'),
})
export type PluginBody = Body<typeof Plugin>

export const Tested = named('ConnectionTest', 'Result of a connection test.', {
  status: oneOf(['healthy', 'degraded', 'unhealthy', 'unconfigured'], 'Overall status.'),
  sources: listOf(
    Type.Object({
      base_url: text('Address of the system or device.'),
      status: oneOf(['healthy', 'degraded', 'unhealthy'], 'Status of this system.'),
      error: textOrNull('What is wrong; null if this system is healthy.'),
      devices: wholeOrNull('Number of devices that this system lists; null if unknown.'),
    }),
    'Result for each system.',
  ),
})
export type ConnectionTest = Body<typeof Tested>
