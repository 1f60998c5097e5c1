/** Manufacturers, plugins, stored settings and processes. */

import { NoContent, pagedOf } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import { ByCode, ByKey, ManufacturerList, Paging, ScopedSettingsList, SettingScope } from '../queries.ts'
import { ManufacturerChange, ManufacturerTrial, NewManufacturer } from '../requests.ts'
import { ManufacturerRecord, Plugin, Tested } from '../resources/manufacturers.ts'
import { Nodes } from '../resources/nodes.ts'
import { ScopedSettings } from '../resources/settings.ts'
import { StoreAcknowledged } from '../resources/store.ts'

export const listManufacturers = endpoint('GET', '/api/admin/manufacturers/', {
  ...operation('Administration', 'listManufacturers', 'Manufacturers with their configuration, without secrets.'),
  querystring: ManufacturerList,
  response: { 200: pagedOf(ManufacturerRecord) },
})

export const createManufacturer = endpoint('POST', '/api/admin/manufacturers/', {
  ...operation('Administration', 'createManufacturer', 'Adds a manufacturer.'),
  body: NewManufacturer,
  response: { 201: ManufacturerRecord, 409: ErrorResponse },
})

export const changeManufacturer = endpoint('PATCH', '/api/admin/manufacturers/:code/', {
  ...operation(
    'Administration',
    'changeManufacturer',
    'Changes a manufacturer; keys of `config` are merged into the stored configuration.',
  ),
  params: ByCode,
  body: ManufacturerChange,
  response: { 200: ManufacturerRecord, 409: ErrorResponse },
})

export const removeManufacturer = endpoint('DELETE', '/api/admin/manufacturers/:code/', {
  ...operation('Administration', 'removeManufacturer', 'Removes a manufacturer.'),
  params: ByCode,
  response: { 204: NoContent, 409: ErrorResponse },
})

export const testConfiguration = endpoint('POST', '/api/admin/manufacturers/test', {
  ...operation(
    'Administration',
    'testConfiguration',
    'Tests a configuration without storing it. With a `code`, it is merged into the stored configuration of that manufacturer.',
  ),
  body: ManufacturerTrial,
  response: { 200: Tested },
})

export const testManufacturer = endpoint('POST', '/api/admin/manufacturers/:code/test', {
  ...operation(
    'Administration',
    'testManufacturer',
    "Tests the connection to the manufacturer's systems, even if the manufacturer is disabled.",
  ),
  params: ByCode,
  response: { 200: Tested },
})

export const listPlugins = endpoint('GET', '/api/admin/plugins/', {
  ...operation('Administration', 'listPlugins', "Plugins for manufacturers' systems."),
  querystring: Paging,
  response: { 200: pagedOf(Plugin) },
})

export const listSettings = endpoint('GET', '/api/admin/settings/', {
  ...operation(
    'Administration',
    'listSettings',
    'The effective settings, global, per manufacturer and per group, and where each value comes from.',
  ),
  querystring: ScopedSettingsList,
  response: { 200: pagedOf(ScopedSettings) },
})

export const removeSetting = endpoint('DELETE', '/api/admin/settings/:key/', {
  ...operation(
    'Administration',
    'removeSetting',
    'Deletes a stored setting of a scope, so that the value that it overrode applies again.',
  ),
  params: ByKey,
  querystring: SettingScope,
  response: { 204: NoContent },
})

export const listNodes = endpoint('GET', '/api/admin/nodes/', {
  ...operation(
    'Administration',
    'listNodes',
    'The processes that use this database, and the sources assigned to them.',
  ),
  response: { 200: Nodes },
})

export const acknowledgeStore = endpoint('POST', '/api/admin/store/acknowledge', {
  ...operation(
    'Administration',
    'acknowledgeStore',
    'Acknowledges that the database was missing or damaged when the service started.',
  ),
  response: { 200: StoreAcknowledged },
})
