import { useWatchState } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import type { WatchState } from '../../app/watch-state.ts'

export const manufacturersPath = '/api/admin/manufacturers/'

/** The code if the name is empty. */
export function displayName({ code, name }: { readonly code: string; readonly name: string }): string {
  return plainText(name) || code
}

export function manufacturerName({ health }: Pick<WatchState, 'health'>, code: string): string {
  const known = health?.manufacturers.find((manufacturer) => manufacturer.code === code)
  return known === undefined ? code : displayName(known)
}

export function useManufacturerName(code: string): string {
  return useWatchState((watchState) => manufacturerName(watchState, code))
}

export function useManufacturerNames(): (code: string) => string {
  const health = useWatchState((watchState) => watchState.health)
  return (code) => manufacturerName({ health }, code)
}

export function ManufacturerName({ code }: { code: string }) {
  return <bdi>{useManufacturerName(code)}</bdi>
}
