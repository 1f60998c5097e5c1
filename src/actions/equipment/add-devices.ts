/** Adds individual devices to a manufacturer's configuration if they respond, and removes devices by address. */

import type { Actor } from '../../domain/access/access.ts'
import type { SourceError } from '../../domain/equipment/health.ts'
import { anyVersion } from '../../domain/versions.ts'
import { getPlugin } from '../../manufacturers/index.ts'
import { type AnsweringDevice, searchAddresses } from '../../manufacturers/search.ts'
import type { Service } from '../../service.ts'
import { changeManufacturer, getManufacturer } from '../sources/change-manufacturers.ts'

/**
 * Finds responding devices that are not monitored yet. `unsupported` lists devices that responded but cannot be used.
 */
export async function findSingleDevices(
  service: Service,
  code: string,
  ips: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly found: readonly AnsweringDevice[]; readonly unsupported: readonly SourceError[] }> {
  const { plugin } = await getManufacturer(service, code)
  const known = new Set(service.sourceRegistry.sources().map(({ settings }) => settings.baseUrl))
  const unsupported: SourceError[] = []
  const onUnsupported = (source: string, error: string) => unsupported.push({ manufacturer: code, source, error })
  const { localAddresses } = service
  const { destinations } = service.outbound
  const options = { ips, known, destinations, signal, localAddresses, onUnsupported }
  const found = await searchAddresses(getPlugin(plugin), options)
  return { found, unsupported }
}

export async function addSingleDevices(
  service: Service,
  actor: Actor,
  code: string,
  addresses: readonly string[],
): Promise<void> {
  if (addresses.length === 0) return
  const { config } = await getManufacturer(service, code)
  // The stored secrets count as entered, because a user who can run this command can also read them.
  const change = { ...config, devices: [...devicesIn(config), ...addresses] }
  await changeManufacturer(service, actor, code, { config: change }, anyVersion)
}

/** Removes the devices at these IP addresses. Returns the configured addresses that were removed. */
export async function removeSingleDevices(
  service: Service,
  actor: Actor,
  code: string,
  ips: readonly string[],
): Promise<string[]> {
  const { config } = await getManufacturer(service, code)
  const devices = devicesIn(config)
  const removed = devices.filter((device) => ips.includes(hostOf(device)))
  if (removed.length === 0) return []
  const remaining = devices.filter((device) => !removed.includes(device))
  await changeManufacturer(service, actor, code, { config: { devices: remaining } }, anyVersion)
  return removed.map(addressOf)
}

function devicesIn(config: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Array.isArray(config.devices) ? config.devices : []
}

function addressOf(device: unknown): string {
  return typeof device === 'object' && device !== null && 'url' in device ? String(device.url) : String(device)
}

function hostOf(device: unknown): string {
  const address = addressOf(device)
  return URL.canParse(address) ? new URL(address).hostname : ''
}
