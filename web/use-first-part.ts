/** Shows the beginning of a long list, and more of it as the user scrolls, because browsers cannot lay out thousands of cards. */

import { useCallback, useState } from 'react'

const partSize = 300

/** How many entries of a list were shown at last, so that a page to which the user returns is as long as before. */
const lengths = new Map<string, number>()

/** `key` identifies the list; a list with another key begins with its first part again. */
export function useFirstPart<Entry>(all: readonly Entry[], key: string) {
  const [grown, setGrown] = useState({ key, length: lengths.get(key) ?? partSize })
  const length = grown.key === key ? grown.length : partSize
  const showMore = useCallback(() => {
    lengths.clear()
    lengths.set(key, length + partSize)
    setGrown({ key, length: length + partSize })
  }, [key, length])
  return { shown: all.length > length ? all.slice(0, length) : all, hidden: Math.max(0, all.length - length), showMore }
}
