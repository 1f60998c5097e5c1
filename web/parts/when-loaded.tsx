import { type ComponentType, lazy, Suspense } from 'react'

/** Returns a component whose module is loaded when it is first rendered. Until then, nothing is in its place. */
export function whenLoaded<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const Loaded = lazy(async () => ({ default: await load() }))
  return (props) => (
    <Suspense>
      <Loaded {...props} />
    </Suspense>
  )
}
