"""Who is who: named things are listed, proposed as duplicates, merged, split and renamed. A person decides."""
