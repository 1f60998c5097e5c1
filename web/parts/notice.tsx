/** What stands in the middle of a page that has nothing else to show. */

import type { ReactNode } from 'react'

export function Notice({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <section className="notice">
      <h2>{title}</h2>
      {children}
    </section>
  )
}
