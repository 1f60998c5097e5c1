import Type from 'typebox'
import { about, endpoint, operationsOf } from './endpoint.ts'
import { ErrorResponse } from './errors.ts'
import { upstreamDetails, upstreamStatus } from './health.ts'
import {
  type Body,
  body,
  boundedText,
  code,
  flag,
  listOf,
  manufacturerFilter,
  NoContent,
  name,
  named,
  oneOf,
  orNull,
  Paging,
  pagedOf,
  paging,
  query,
  text,
  textOrNull,
  trueOrFalse,
  version,
  whole,
  wholeOrNull,
} from './schema.ts'
import { transports } from './values.ts'

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
  version,
})
export type ManufacturerBody = Body<typeof ManufacturerRecord>

export const Plugin = named('Plugin', "A plugin for a manufacturer's systems.", {
  code: text("Code to use as a manufacturer's `plugin`."),
  name: text('Display name.'),
  transport: orNull(
    oneOf(transports, 'Transport.'),
    'Transport of real-time updates; null if it only supports polling.',
  ),
  has_discovery_list: flag('True if the systems search a list of addresses for devices.'),
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

export const Detection = named('Detection', 'The equipment that responds at an address.', {
  found: listOf(
    Type.Object({
      plugin: text('Code of the plugin that supports it.'),
      kind: oneOf(['device', 'system'], 'A `device` belongs in `devices`, a `system` in `api_base_url`.'),
      address: text('Address with its protocol, as in the configuration.'),
      device_type: text('Model family.'),
      model: textOrNull('Model.'),
      channels: whole('Number of channels; 0 while unknown.'),
      access: oneOf(
        ['open', 'password_needed', 'password_rejected', 'failed'],
        'Result of a request with the given password, if any.',
      ),
      error: textOrNull('Why the request failed.'),
      fingerprint: textOrNull('SHA-256 fingerprint of its certificate, if no authority of this machine has issued it.'),
    }),
    'Devices and systems that Micwatch can monitor.',
  ),
  known: listOf(
    Type.Object({
      receiver_id: wholeOrNull('Id of the receiver; null until a source has reported it.'),
      name: text('Name of the receiver, or the address of the source.'),
      manufacturer: text('Code of the manufacturer.'),
    }),
    'Receivers and sources that are already monitored there. They are not contacted.',
  ),
  unknown: listOf(
    Type.Object({ address: text('Address with its protocol.'), error: text('How it responded.') }),
    'Ports at which something responds that Micwatch does not know.',
  ),
  tried: listOf(
    Type.Object({ plugin: text('Code of the plugin.'), address: text('Address with its protocol.') }),
    'Protocols that were tried.',
  ),
})
export type DetectionBody = Body<typeof Detection>

export const manufacturerFields = {
  name: Type.Optional(name),
  plugin: Type.Optional(boundedText(1, 64)),
  api_enabled: Type.Optional(trueOrFalse),
  config: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'an object' })),
}

const NewManufacturer = body({ code, ...manufacturerFields })
const ManufacturerChange = body(manufacturerFields)

/** With a `code`, the configuration is merged into that of the stored manufacturer. */
const ManufacturerTrial = body({
  code: Type.Optional(code),
  plugin: manufacturerFields.plugin,
  config: manufacturerFields.config,
})

const DetectionRequest = body({
  address: boundedText(1, 255),
  plugin: manufacturerFields.plugin,
  username: Type.Optional(boundedText(0, 255)),
  password: Type.Optional(boundedText(0, 255)),
})

const ByCode = Type.Object({ code: text('Code of the manufacturer.') })
const ManufacturerList = query({ manufacturer: manufacturerFilter, ...paging })

export const manufacturerOperations = operationsOf({
  listManufacturers: endpoint('GET', '/api/admin/manufacturers/', {
    ...about('Administration', 'Manufacturers with their configuration, without secrets.'),
    querystring: ManufacturerList,
    response: { 200: pagedOf(ManufacturerRecord) },
  }),

  createManufacturer: endpoint('POST', '/api/admin/manufacturers/', {
    ...about('Administration', 'Adds a manufacturer.'),
    body: NewManufacturer,
    response: { 201: ManufacturerRecord, 409: ErrorResponse },
  }),

  changeManufacturer: endpoint('PATCH', '/api/admin/manufacturers/:code/', {
    ...about('Administration', 'Changes a manufacturer; keys of `config` are merged into the stored configuration.'),
    params: ByCode,
    body: ManufacturerChange,
    response: { 200: ManufacturerRecord, 409: ErrorResponse, 412: ErrorResponse },
  }),

  removeManufacturer: endpoint('DELETE', '/api/admin/manufacturers/:code/', {
    ...about('Administration', 'Removes a manufacturer.'),
    params: ByCode,
    response: { 204: NoContent, 409: ErrorResponse, 412: ErrorResponse },
  }),

  testConfiguration: endpoint('POST', '/api/admin/manufacturers/test', {
    ...about(
      'Administration',
      'Tests a configuration without storing it. With a `code`, it is merged into the stored configuration of that manufacturer.',
    ),
    body: ManufacturerTrial,
    response: { 200: Tested },
  }),

  detectEquipment: endpoint('POST', '/api/admin/manufacturers/detect', {
    ...about(
      'Administration',
      'Detects the manufacturer and the protocol of a device or system from its address. A password is sent only if a single device or system is found.',
    ),
    body: DetectionRequest,
    response: { 200: Detection },
  }),

  testManufacturer: endpoint('POST', '/api/admin/manufacturers/:code/test', {
    ...about(
      'Administration',
      "Tests the connection to the manufacturer's systems, even if the manufacturer is disabled.",
    ),
    params: ByCode,
    response: { 200: Tested },
  }),

  listPlugins: endpoint('GET', '/api/admin/plugins/', {
    ...about('Administration', "Plugins for manufacturers' systems."),
    querystring: Paging,
    response: { 200: pagedOf(Plugin) },
  }),
})
