/**
 * D-163: fields that platforms of this kind have for a node and Plaza does not. Libraries ask for them in lists of their own, whether the
 * caller wants them or not. Sources: for pages the enumeration of fields in such a platform's own library for Python, for users and pages the
 * default lists of `pyfacebook` (`utils/constant.py`); for catalogs, feeds and uploads the enumerations in that library for Python; the others are names that are known of platforms of this kind, not a complete list.
 */
const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

export const unservedFields = {
  page: words(
    `about access_token ad_campaign affiliation app_id artists_we_like attire awards band_interests band_members best_page bio birthday
     booking_agent built business can_checkin can_post category category_list checkins company_overview contact_address country_page_likes
     cover culinary_team current_location description description_html directed_by display_subtext displayed_message_response_time emails
     engagement fan_count featured_video features followers_count food_styles founded general_info general_manager genre global_brand_page_name
     global_brand_root_id has_added_app has_lead_access hometown hours impressum influences is_always_open is_chain is_community_page
     is_eligible_for_branded_content is_owned is_permanently_closed is_published is_unclaimed is_verified is_webhooks_subscribed keywords link
     location members merchant_id merchant_review_status messaging_feature_status mission mpg name_with_location_descriptor network
     new_like_count offer_eligible overall_star_rating owner_business page_token parent_page parking payment_options personal_info
     personal_interests pharma_safety_info phone pickup_options picture place_type plot_outline preferred_audience press_contact price_range
     privacy_info_url produced_by products promotion_eligible promotion_ineligible_reason public_transit rating_count record_label release_date
     restaurant_services restaurant_specialties schedule screenplay_by season single_line_address starring start_info store_code
     store_location_descriptor store_number studio talking_about_count tasks temporary_status unread_message_count unread_notif_count
     unseen_message_count username verification_status voip_info website were_here_count written_by`,
  ),
  user: words(
    `about age_range birthday context cover currency devices education email favorite_athletes favorite_teams first_name gender hometown
     inspirational_people install_type installed is_verified languages last_name link locale location meeting_for middle_name name_format
     payment_pricepoints picture political profile_pic quotes relationship_status religion security_settings short_name significant_other
     sports test_group third_party_id timezone updated_time verified video_upload_limits viewer_can_send_gift website work`,
  ),
  business: words(
    `block_offline_analytics created_by created_time is_hidden link primary_page profile_picture_uri timezone_id two_factor_type updated_by
     updated_time verification_status vertical vertical_id`,
  ),
  app: words(
    `app_domains app_name app_type category company contact_email created_time daily_active_users description icon_url link login_url logo_url
     monthly_active_users namespace privacy_policy_url subcategory terms_of_service_url weekly_active_users`,
  ),
  live_video: words(
    `ad_break_config copyright dash_ingest_url dash_preview_url from ingest_streams is_manual_mode is_reference_only live_views overlay_url
     recommended_encoder_settings seconds_left tags total_views video`,
  ),
  social_account: words(`account_type biography followers_count follows_count media_count profile_picture_url user_id website`),
  product_catalog: words(
    `ad_account_to_collaborative_ads_share_settings agency_collaborative_ads_share_settings business catalog_store commerce_merchant_settings
     creator_user da_display_settings default_image_url fallback_image_url feed_count is_catalog_segment is_local_catalog owner_business
     product_count show_assign_permissions store_catalog_settings user_access_expire_time`,
  ),
  product_feed: words(
    `country created_time default_currency deletion_enabled delimiter encoding feed_type file_name ingestion_source_type item_sub_type
     migrated_from_feed_id override_type override_value primary_feed_ids primary_feeds quoted_fields_mode rules selected_override_fields
     supplementary_feeds use_case`,
  ),
  product_feed_schedule: words("id username"),
  product_feed_upload: words("error_report warning_count"),
  product_feed_upload_error: words("affected_surfaces error_type id total_count"),
  media: words(`alt_text boost_eligibility_info comments is_comment_enabled is_shared_to_feed view_count`),
} as const;
