/** The display names of manufacturers, as the health of the service lists them. */

import { useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import type { WatchState } from '../app/watch-state.ts'

/** Returns the display name of a manufacturer, or its code if the name is empty. */
export function displayName({ code, name }: { readonly code: string; readonly name: string }): string {
  return plainText(name) || code
}

/** Returns the display name of a manufacturer, or its code while the name is unknown. */
export function manufacturerName({ health }: Pick<WatchState, 'health'>, code: string): string {
  const known = health?.manufacturers.find((manufacturer) => manufacturer.code === code)
  return known === undefined ? code : displayName(known)
}

export function useManufacturerName(code: string): string {
  return useWatchState((watchState) => manufacturerName(watchState, code))
}

/** Returns a function that returns the display name of a manufacturer. */
export function useManufacturerNames(): (code: string) => string {
  const health = useWatchState((watchState) => watchState.health)
  return (code) => manufacturerName({ health }, code)
}

export function ManufacturerName({ code }: { code: string }) {
  return <bdi>{useManufacturerName(code)}</bdi>
}
