/** Single devices join a manufacturer's configuration when they answer, and leave it by their address. */

import { getPlugin } from '../manufacturers/index.ts'
import { type FoundDevice, searchAddresses } from '../manufacturers/search.ts'
import type { Actor } from '../model/access.ts'
import type { SourceError } from '../model/health.ts'
import { changeManufacturer, existing, type ManufacturerDeps } from './change-manufacturers.ts'

/** Those that answer and are not listened to yet. `unsupported`: they answered, and cannot be used. */
export async function findSingleDevices(
  deps: ManufacturerDeps,
  code: string,
  ips: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly found: readonly FoundDevice[]; readonly unsupported: readonly SourceError[] }> {
  const { plugin } = await existing(deps, code)
  const known = new Set(deps.sources().map(({ settings }) => settings.baseUrl))
  const unsupported: SourceError[] = []
  const onUnsupported = (source: string, error: string) => unsupported.push({ manufacturer: code, source, error })
  const { destinations } = deps
  const found = await searchAddresses(getPlugin(plugin), { ips, known, destinations, signal, onUnsupported })
  return { found, unsupported }
}

export async function addSingleDevices(
  deps: ManufacturerDeps,
  actor: Actor,
  code: string,
  addresses: readonly string[],
): Promise<void> {
  if (addresses.length === 0) return
  const { config } = await existing(deps, code)
  await changeManufacturer(deps, actor, code, { config: { devices: [...devicesIn(config), ...addresses] } })
}

/** Gives the addresses that were taken out. */
export async function removeSingleDevices(
  deps: ManufacturerDeps,
  actor: Actor,
  code: string,
  ips: readonly string[],
): Promise<string[]> {
  const { config } = await existing(deps, code)
  const devices = devicesIn(config)
  const leaving = devices.filter((device) => ips.includes(hostOf(device)))
  if (leaving.length === 0) return []
  const staying = devices.filter((device) => !leaving.includes(device))
  await changeManufacturer(deps, actor, code, { config: { devices: staying } })
  return leaving.map(addressOf)
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
