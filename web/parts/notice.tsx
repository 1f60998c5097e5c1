/** A message in the middle of an otherwise empty page. */

import type { ReactNode } from 'react'

export function Notice({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <section className="notice">
      <h2>{title}</h2>
      {children}
    </section>
  )
}
