/** Shows the beginning of a long list, and more of it as the user scrolls, because browsers cannot lay out thousands of cards. */

import { useCallback, useState } from 'react'

const partSize = 300

interface ShownLength {
  readonly key: string
  /** How many entries are shown. */
  readonly length: number
}

/** The list that was last extended, so that a page to which the user returns is as long as before. */
let lastExtended: ShownLength = { key: '', length: partSize }

/** `key` identifies the list; a list with another key begins with its first part again. */
export function useFirstPart<Entry>(all: readonly Entry[], key: string) {
  const [extended, setExtended] = useState(lastExtended)
  const length = extended.key === key ? extended.length : partSize
  const showMore = useCallback(() => {
    lastExtended = { key, length: length + partSize }
    setExtended(lastExtended)
  }, [key, length])
  return { shown: all.length > length ? all.slice(0, length) : all, hidden: Math.max(0, all.length - length), showMore }
}
