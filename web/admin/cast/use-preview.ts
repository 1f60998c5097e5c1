import { useEffect, useRef, useState } from 'react'
import type { ApiResponse, Problem } from '../../app/api.ts'

interface Preview<T> {
  readonly result: T | null
  readonly problem: Problem | null
}

const noPreview = { result: null, problem: null }
/** After the last key press. */
const previewDelayMs = 250

/** Loads a preview when `key` changes. `read` is null if there is nothing to preview. */
export function usePreview<T>(key: string, read: (() => Promise<ApiResponse<T>>) | null): Preview<T> {
  const [preview, setPreview] = useState<Preview<T>>(noPreview)
  const readRef = useRef(read)
  readRef.current = read
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the request needs another preview
  useEffect(() => {
    if (readRef.current === null) {
      setPreview(noPreview)
      return
    }
    let isCurrent = true
    const timer = setTimeout(async () => {
      const response = await readRef.current?.()
      if (!isCurrent || response === undefined) return
      setPreview(response.ok ? { result: response.body, problem: null } : { result: null, problem: response.problem })
    }, previewDelayMs)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [key])
  return preview
}
