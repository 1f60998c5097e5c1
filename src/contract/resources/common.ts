/** Fields that several resources have. */

import { type Body, named, orNull, text, textOrNull, whole } from '../described.ts'

export const id = whole('Id of the record.')

export const manufacturer = text('Code of the manufacturer.')

export const ip = textOrNull('IPv4 address.')

export const SiteReference = named('SiteReference', 'Another installation of Micwatch that this one follows.', {
  code: text('Code of the site.'),
  name: text('Name of the site.'),
})
export type SiteReference = Body<typeof SiteReference>

export const site = orNull(SiteReference, 'The site that monitors it; null if this installation does.')
export const siteOfEvent = orNull(SiteReference, 'The site that has recorded it; null if this installation has.')
export const siteOfAlert = orNull(SiteReference, 'The site that has raised it; null if this installation has.')
