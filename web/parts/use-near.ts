import { type RefCallback, useCallback, useState } from 'react'

/** Part of the viewport's height above and below it. */
const margin = '60% 0px'

const waiting = new Map<Element, () => void>()

let observer: IntersectionObserver | null = null

function observe(element: Element, onNear: () => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) waiting.get(target)?.()
    },
    { rootMargin: margin },
  )
  waiting.set(element, onNear)
  observer.observe(element)
  return () => {
    waiting.delete(element)
    observer?.unobserve(element)
  }
}

/** Becomes true when the element is first near the viewport. True from the start if `isFirst`. */
export function useIsNear<Element extends HTMLElement>(isFirst: boolean): [boolean, RefCallback<Element>] {
  const [isNear, setNear] = useState(isFirst)
  const ref = useCallback(
    (element: Element | null) => {
      if (element !== null && !isNear) return observe(element, () => setNear(true))
    },
    [isNear],
  )
  return [isNear, ref]
}

/** The number of elements of a grid that fill the viewport, if each has at least this size in CSS pixels. */
export function countInView({ width, height }: { width: number; height: number }): number {
  return Math.ceil(innerWidth / width) * Math.ceil(innerHeight / height)
}
